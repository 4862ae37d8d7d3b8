import CSoraX264
import SoraCodecs
import SoraNAL

/// H.264 over libx264: no lookahead, no B-frames, constant bitrate within a small buffer, key frames only when asked for,
/// parameter sets with each of them, Annex B.
///
/// One temporal layer: the library has no choice of references a frame, and every P-frame of it may be referred to.
@safe final class X264EncoderAdapter: EncoderAdapter {
  static let kind = VideoCodecKind.h264
  static var implementationName: String { libraryName }
  static let scalabilityModes: [ScalabilityMode] = [.l1t1]
  // With times instead of a rate, the library would keep each frame until the next one comes.
  static let traits = EncoderTraits(rateControl: .libraryWithoutDropping, learnsFrameRate: false)

  /// Profiles that it makes. For Baseline it makes Constrained Baseline, for Constrained High it makes High without what
  /// the former lacks.
  static let profiles: [H264Profile] = [
    .constrainedBaseline, .baseline, .main, .high, .constrainedHigh,
  ]

  let parameters: UnsafeMutablePointer<x264_param_t>
  /// The library's last error.
  let log: UnsafeMutablePointer<CChar>
  /// Frames per second that the library was started with.
  var openFrameRate = 30.0
  private var encoder: OpaquePointer?
  private let input: UnsafeMutablePointer<x264_picture_t>
  private let output: UnsafeMutablePointer<x264_picture_t>

  init() {
    unsafe parameters = .allocate(capacity: 1)
    unsafe parameters.initialize(to: x264_param_t())
    unsafe log = .allocate(capacity: Int(SORA_X264_LOG_SIZE))
    unsafe log.initialize(repeating: 0, count: Int(SORA_X264_LOG_SIZE))
    unsafe input = .allocate(capacity: 1)
    unsafe input.initialize(to: x264_picture_t())
    unsafe output = .allocate(capacity: 1)
    unsafe output.initialize(to: x264_picture_t())
  }

  deinit {
    close()
    unsafe parameters.deallocate()
    unsafe log.deallocate()
    unsafe input.deallocate()
    unsafe output.deallocate()
  }

  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> H264EncodingFormat {
    try H264EncodingFormat(settings, profiles: profiles)
  }

  func open(_ plan: H264EncodingFormat, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    try load()
    try fill(plan, settings, rates)
    unsafe encoder = sora_x264_open(parameters)
    guard unsafe encoder != nil else { throw libraryError("start an encoder", -1) }
  }

  func close() {
    if let encoder = unsafe encoder { unsafe x264_encoder_close(encoder) }
    unsafe encoder = nil
  }

  func setRates(_ rates: EncoderRates) throws(CodecError) {
    guard let encoder = unsafe encoder else { return }
    fill(rates)
    let result = unsafe x264_encoder_reconfig(encoder, parameters)
    guard result == 0 else { throw libraryError("change its rates", Int(result)) }
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into target: EncoderOutput)
    throws(CodecError)
  {
    guard let encoder = unsafe encoder else { return }
    unsafe describe(picture)
    unsafe input.pointee.i_type = order.isKeyFrame ? X264_TYPE_IDR : X264_TYPE_P
    unsafe input.pointee.i_pts = order.number
    var units: UnsafeMutablePointer<x264_nal_t>?
    var count: Int32 = 0
    let size = unsafe x264_encoder_encode(encoder, &units, &count, input, output)
    guard size >= 0 else { throw libraryError("encode", Int(size)) }
    guard size > 0, let units = unsafe units else { return }
    for index in 0..<Int(count) {
      let unit = unsafe units[index]
      // The library's settings in words, as long as a packet, are of no use to anybody.
      guard unsafe unit.i_type != Int32(NAL_SEI.rawValue) else { continue }
      unsafe target.append(
        UnsafeRawBufferPointer(start: unit.p_payload, count: Int(unit.i_payload)),
        expecting: Int(size))
    }
    unsafe target.isKeyFrame = output.pointee.b_keyframe != 0
  }

  /// Points the library's image at the frame's own memory, which it copies inside of `x264_encoder_encode`.
  private func describe(_ picture: EncoderPicture) {
    unsafe x264_picture_init(input)
    unsafe input.pointee.img.i_csp = picture.isInterleaved ? X264_CSP_NV12 : X264_CSP_I420
    unsafe input.pointee.img.i_plane = picture.isInterleaved ? 2 : 3
    unsafe input.pointee.img.plane.0 = picture.y
    unsafe input.pointee.img.plane.1 = picture.u
    unsafe input.pointee.img.plane.2 = picture.isInterleaved ? nil : picture.v
    unsafe input.pointee.img.i_stride.0 = picture.yStride
    unsafe input.pointee.img.i_stride.1 = picture.uStride
    unsafe input.pointee.img.i_stride.2 = picture.isInterleaved ? 0 : picture.vStride
  }

  /// The error of a call that failed, with the library's own words.
  func libraryError(_ operation: String, _ code: Int) -> CodecError {
    let text = unsafe String(cString: log).filter { $0 != "\n" }
    unsafe log.pointee = 0
    return .library(
      name: "libx264", operation: operation, code: code, detail: text.isEmpty ? "no reason" : text)
  }
}
