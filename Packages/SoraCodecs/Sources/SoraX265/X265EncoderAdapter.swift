import CSoraX265
import CX265
import SoraCodecs
import SoraNAL

/// H.265 over libx265: no lookahead, no B-frames, key frames only when asked for, parameter sets with each of them,
/// Annex B, main profile.
///
/// One temporal layer: the library puts nothing but B-frames into a second one. It has threads of its own. A new speed
/// starts it anew: `x265_encoder_reconfig` can't go from ultrafast to another preset, nor change the sizes of blocks.
@safe final class X265EncoderAdapter: EncoderAdapter {
  static let kind = VideoCodecKind.h265
  static var implementationName: String { libraryName }
  static let scalabilityModes: [ScalabilityMode] = [.l1t1]
  // libx265 (3.5) takes new rates through `x265_encoder_reconfig` and says that it did, but goes on with those that it was
  // opened with.
  static let traits = EncoderTraits(rateControl: .driver, takesInterleavedChroma: false)

  let parameters: UnsafeMutablePointer<x265_param>
  private var encoder: OpaquePointer?
  private let input: UnsafeMutablePointer<x265_picture>

  init() throws(CodecError) {
    try load()
    guard let parameters = unsafe x265_param_alloc() else {
      throw libraryError("start an encoder", -1, "out of memory")
    }
    guard let input = unsafe x265_picture_alloc() else {
      unsafe x265_param_free(parameters)
      throw libraryError("start an encoder", -1, "out of memory")
    }
    unsafe self.parameters = parameters
    unsafe self.input = input
  }

  deinit {
    close()
    unsafe x265_picture_free(input)
    unsafe x265_param_free(parameters)
  }

  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> H265EncodingFormat {
    try H265EncodingFormat(settings)
  }

  func open(_ plan: H265EncodingFormat, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    try fill(plan, settings)
    unsafe x265_picture_init(parameters, input)
    unsafe encoder = sora_x265_open(parameters)
    guard unsafe encoder != nil else {
      throw libraryError("start an encoder", -1, "it refused")
    }
  }

  func close() {
    if let encoder = unsafe encoder { unsafe x265_encoder_close(encoder) }
    unsafe encoder = nil
  }

  /// Never called: the driver's quantizers keep the rate.
  func setRates(_ rates: EncoderRates) {}

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    guard let encoder = unsafe encoder else { return }
    unsafe describe(picture)
    unsafe input.pointee.sliceType = order.isKeyFrame ? X265_TYPE_IDR : X265_TYPE_P
    // 0 would leave the choice to the library.
    unsafe input.pointee.forceqp = Int32(order.quantizer) + 1
    unsafe input.pointee.pts = order.number
    var units: UnsafeMutablePointer<x265_nal>?
    var count: UInt32 = 0
    let result = unsafe x265_encoder_encode(encoder, &units, &count, input, nil)
    guard result >= 0 else { throw libraryError("encode", Int(result), "no reason") }
    guard result > 0, let units = unsafe units, count > 0 else {
      throw libraryError("encode", 0, "it held a frame back")
    }
    var size = 0
    for index in 0..<Int(count) {
      let unit = unsafe units[index]
      size += unsafe Int(unit.sizeBytes)
      let type = unsafe H265NALUnitType(rawValue: UInt8(truncatingIfNeeded: unit.type))
      if type.isRandomAccess { output.isKeyFrame = true }
    }
    // The units lie behind each other.
    unsafe output.append(
      UnsafeRawBufferPointer(start: units[0].payload, count: size), expecting: size)
  }

  /// Points the library's picture at the frame's own memory, which it copies inside of `x265_encoder_encode`.
  private func describe(_ picture: EncoderPicture) {
    unsafe input.pointee.bitDepth = 8
    unsafe input.pointee.colorSpace = X265_CSP_I420
    unsafe input.pointee.planes.0 = UnsafeMutableRawPointer(picture.y)
    unsafe input.pointee.planes.1 = UnsafeMutableRawPointer(picture.u)
    unsafe input.pointee.planes.2 = UnsafeMutableRawPointer(picture.v)
    unsafe input.pointee.stride.0 = picture.yStride
    unsafe input.pointee.stride.1 = picture.uStride
    unsafe input.pointee.stride.2 = picture.vStride
  }
}

/// The error of a call that failed. The library keeps its reasons to itself, or prints them.
func libraryError(_ operation: String, _ code: Int, _ detail: String) -> CodecError {
  .library(name: "libx265", operation: operation, code: code, detail: detail)
}
