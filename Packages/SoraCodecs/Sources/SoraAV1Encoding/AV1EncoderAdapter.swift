import CAOM
import CSoraAOM
import SoraCodecs

/// AV1 over libaom, with temporal and spatial layers: real-time usage, constant bitrate, no lookahead, key frames only when
/// asked for.
///
/// A frame is one temporal unit, each OBU with its size. With several spatial layers it holds all of them, lowest first.
@safe final class AV1EncoderAdapter: EncoderAdapter {
  static let kind = VideoCodecKind.av1
  static var implementationName: String { libraryName }
  static let scalabilityModes = ScalabilityMode.all
  static let traits = EncoderTraits(has10Bits: true)

  var configuration = unsafe aom_codec_enc_cfg_t()
  private(set) var structure = ScalabilityStructure(.l1t1)
  private(set) var size = EncoderSizePlan(width: 0, height: 0)

  private let context: UnsafeMutablePointer<aom_codec_ctx_t>
  private var image = unsafe aom_image_t()
  private var isOpen = false

  init() {
    unsafe context = .allocate(capacity: 1)
    unsafe context.initialize(to: aom_codec_ctx_t())
  }

  deinit {
    close()
    unsafe context.deallocate()
  }

  /// libaom 3.6 crashes with spatial layers of 10 bits.
  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> EncoderSizePlan {
    guard settings.bitDepth == 8 || settings.scalabilityMode.spatialLayers == 1 else {
      throw .invalidSetting(
        name: "scalabilityMode", value: settings.scalabilityMode.description,
        allowed: "one spatial layer with 10 bits a sample")
    }
    return EncoderSizePlan(width: settings.width, height: settings.height)
  }

  func open(_ plan: EncoderSizePlan, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    try load()
    size = plan
    structure = ScalabilityStructure(settings.scalabilityMode)
    let interface = unsafe aom_codec_av1_cx()
    var result = unsafe aom_codec_enc_config_default(
      interface, &configuration, UInt32(AOM_USAGE_REALTIME))
    guard result == AOM_CODEC_OK else { throw libraryError("read its defaults", result) }
    let threads = settings.threadCount(width: plan.width, height: plan.height)
    configure(settings, threads: threads)
    unsafe configuration.rc_target_bitrate = UInt32(rates.kilobitsPerSecond)
    unsafe context.pointee = aom_codec_ctx_t()
    let flags = settings.bitDepth > 8 ? Int(AOM_CODEC_USE_HIGHBITDEPTH) : 0
    result = unsafe sora_aom_encoder_init(context, interface, &configuration, flags)
    guard result == AOM_CODEC_OK else {
      throw unsafe libraryError("start an encoder", result, context)
    }
    isOpen = true
    try setTools(settings, threads: threads)
    try limitKeyFrames(rates)
    if structure.mode.isLayered { try setLayerRates(rates) }
  }

  func close() {
    if isOpen { unsafe aom_codec_destroy(context) }
    isOpen = false
  }

  func setRates(_ rates: EncoderRates) throws(CodecError) {
    unsafe configuration.rc_target_bitrate = UInt32(rates.kilobitsPerSecond)
    let result = unsafe aom_codec_enc_config_set(context, &configuration)
    guard result == AOM_CODEC_OK else {
      throw unsafe libraryError("change its rates", result, context)
    }
    if structure.mode.isLayered { try setLayerRates(rates) }
    try limitKeyFrames(rates)
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    unsafe describe(picture)
    for layer in 0..<structure.mode.spatialLayers {
      if structure.mode.isLayered { try setLayer(layer, order.layers) }
      let isKeyFrame = order.isKeyFrame && layer == 0
      let result = unsafe aom_codec_encode(
        context, &image, order.ticks, UInt(order.duration),
        isKeyFrame ? aom_enc_frame_flags_t(AOM_EFLAG_FORCE_KF) : 0)
      guard result == AOM_CODEC_OK else { throw unsafe libraryError("encode", result, context) }
      let before = output.count
      collect(into: output)
      // A base layer that rate control dropped takes the layers above with it.
      guard output.count > before else { break }
      let size = layerSize(layer)
      output.endLayer(layer, width: size.width, height: size.height)
    }
  }

  private func collect(into output: EncoderOutput) {
    var iterator: aom_codec_iter_t?
    while let packet = unsafe aom_codec_get_cx_data(context, &iterator) {
      guard unsafe packet.pointee.kind == AOM_CODEC_CX_FRAME_PKT else { continue }
      let part = unsafe packet.pointee.data.frame
      guard unsafe part.sz > 0, let bytes = unsafe part.buf else { continue }
      if unsafe part.flags & UInt32(AOM_FRAME_IS_KEY) != 0 { output.isKeyFrame = true }
      unsafe output.append(
        UnsafeRawBufferPointer(start: bytes, count: part.sz),
        expecting: part.sz * structure.mode.spatialLayers)
    }
  }

  /// Points the library's image at the frame's own memory. It only reads from it, inside of `aom_codec_encode`.
  private func describe(_ picture: EncoderPicture) {
    let format =
      switch unsafe picture.format {
      case .i420: AOM_IMG_FMT_I420
      case .nv12: AOM_IMG_FMT_NV12
      case .i010: AOM_IMG_FMT_I42016
      }
    unsafe aom_img_wrap(
      &image, format, UInt32(picture.width), UInt32(picture.height), 1, picture.y)
    unsafe image.planes.0 = picture.y
    unsafe image.planes.1 = picture.u
    unsafe image.planes.2 = picture.isInterleaved ? nil : picture.v
    unsafe image.stride.0 = picture.yStride
    unsafe image.stride.1 = picture.uStride
    unsafe image.stride.2 = picture.isInterleaved ? 0 : picture.vStride
  }

  func set(_ control: aome_enc_control_id, _ value: Int, _ operation: String) throws(CodecError) {
    let result = unsafe sora_aom_set(
      context, Int32(control.rawValue), Int32(truncatingIfNeeded: value))
    guard result == AOM_CODEC_OK else { throw unsafe libraryError(operation, result, context) }
  }

  /// A control whose value is a structure.
  func set<Value: BitwiseCopyable>(
    _ control: aome_enc_control_id, _ value: inout Value, _ operation: String
  )
    throws(CodecError)
  {
    let result = unsafe withUnsafeMutablePointer(to: &value) {
      unsafe sora_aom_set_pointer(context, Int32(control.rawValue), $0)
    }
    guard result == AOM_CODEC_OK else { throw unsafe libraryError(operation, result, context) }
  }
}
