import CSoraOpenH264
import SoraCodecs
import SoraNAL

/// H.264 over OpenH264: constant bitrate, key frames only when asked for, parameter sets with each of them, Annex B, one to
/// three temporal layers in a pattern of the library's own.
@safe final class OpenH264EncoderAdapter: EncoderAdapter {
  static let kind = VideoCodecKind.h264
  static var implementationName: String { libraryName }
  static let scalabilityModes: [ScalabilityMode] = [.l1t1, .l1t2, .l1t3]
  static let traits = EncoderTraits(learnsFrameRate: false, takesInterleavedChroma: false)

  /// Profiles that it makes. For Baseline it makes Constrained Baseline; Main and High differ from it by CABAC.
  static let profiles: [H264Profile] = [
    .constrainedBaseline, .baseline, .main, .high, .constrainedHigh,
  ]

  let parameters: UnsafeMutablePointer<SEncParamExt>
  private var encoder: OpaquePointer?
  private let result: UnsafeMutablePointer<SFrameBSInfo>
  private var plan: H264EncodingFormat?

  init() {
    unsafe parameters = .allocate(capacity: 1)
    unsafe parameters.initialize(to: SEncParamExt())
    unsafe result = .allocate(capacity: 1)
    unsafe result.initialize(to: SFrameBSInfo())
  }

  deinit {
    close()
    unsafe parameters.deallocate()
    unsafe result.deallocate()
  }

  /// The library takes nothing that is less than a macroblock.
  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> H264EncodingFormat {
    let plan = try H264EncodingFormat(settings, profiles: profiles)
    guard plan.width >= 16, plan.height >= 16 else {
      throw .invalidSetting(
        name: "size", value: "\(settings.width)x\(settings.height)", allowed: "16x16 or more")
    }
    return plan
  }

  func open(_ plan: H264EncodingFormat, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    try load()
    self.plan = plan
    unsafe encoder = sora_openh264_encoder_create()
    guard let encoder = unsafe encoder else { throw libraryError("make an encoder", -1) }
    var code = unsafe sora_openh264_encoder_defaults(encoder, parameters)
    guard code == 0 else { throw libraryError("read its defaults", Int(code)) }
    fill(plan, settings, rates)
    code = unsafe sora_openh264_encoder_open(encoder, parameters)
    guard code == 0 else { throw libraryError("start an encoder", Int(code)) }
  }

  func close() {
    if let encoder = unsafe encoder { unsafe sora_openh264_encoder_destroy(encoder) }
    unsafe encoder = nil
  }

  func setRates(_ rates: EncoderRates) throws(CodecError) {
    guard let encoder = unsafe encoder else { return }
    var code = unsafe sora_openh264_encoder_set_bitrate(
      encoder, Int32(clamping: rates.bitsPerSecond))
    guard code == 0 else { throw libraryError("change its bitrate", Int(code)) }
    code = unsafe sora_openh264_encoder_set_frame_rate(encoder, Float(rates.framesPerSecond))
    guard code == 0 else { throw libraryError("change its frame rate", Int(code)) }
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    guard let encoder = unsafe encoder else { return }
    if order.isKeyFrame {
      let code = unsafe sora_openh264_encoder_force_key_frame(encoder)
      guard code == 0 else { throw libraryError("make a key frame", Int(code)) }
    }
    var source = unsafe describe(picture)
    source.uiTimeStamp = order.ticks / 90
    let code = unsafe sora_openh264_encoder_encode(encoder, &source, result)
    guard code == 0 else { throw libraryError("encode", Int(code)) }
    collect(into: output)
  }

  /// Nothing where rate control dropped the frame.
  private func collect(into output: EncoderOutput) {
    let type = unsafe result.pointee.eFrameType
    let count = unsafe result.pointee.iLayerNum
    guard type != videoFrameTypeSkip, type != videoFrameTypeInvalid, count > 0 else { return }
    let size = unsafe Int(max(0, result.pointee.iFrameSizeInBytes))
    var temporalLayer = 0
    for index in 0..<count {
      guard let layer = unsafe sora_openh264_output_layer(result, index) else { continue }
      unsafe output.append(
        UnsafeRawBufferPointer(
          start: layer.pointee.pBsBuf, count: Int(sora_openh264_layer_size(layer))),
        expecting: size)
      if unsafe Int32(layer.pointee.uiLayerType) == Int32(VIDEO_CODING_LAYER.rawValue) {
        temporalLayer = unsafe Int(layer.pointee.uiTemporalId)
      }
    }
    output.isKeyFrame = type == videoFrameTypeIDR
    output.temporalLayer = temporalLayer
  }

  /// Points the library's picture at the frame's own memory, which it only reads, inside of `encode`.
  private func describe(_ picture: EncoderPicture) -> SSourcePicture {
    var source = SSourcePicture()
    source.iColorFormat = Int32(videoFormatI420.rawValue)
    unsafe source.iPicWidth = Int32(plan?.width ?? picture.width)
    unsafe source.iPicHeight = Int32(plan?.height ?? picture.height)
    unsafe source.iStride.0 = picture.yStride
    unsafe source.iStride.1 = picture.uStride
    unsafe source.iStride.2 = picture.vStride
    unsafe source.pData.0 = picture.y
    unsafe source.pData.1 = picture.u
    unsafe source.pData.2 = picture.v
    return source
  }
}
