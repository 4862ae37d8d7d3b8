import CAOM
import CSoraAOM
public import SoraCodecs
public import SoraMedia

/// An AV1 encoder over libaom, set up for calls: real-time usage, constant bitrate, no lookahead, key frames only when
/// asked for, temporal and spatial layers.
///
/// An `EncodedFrame` is one temporal unit, each OBU with its size. With several spatial layers it holds all layers of its
/// picture, lowest first, and `EncodedFrame.layers` says where each ends. Confined to one serial executor or thread, as
/// `VideoEncoder` says.
public final class AV1Encoder: VideoEncoder {
  public let kind = VideoCodecKind.av1
  public let implementationName = libraryName
  public internal(set) var settings: VideoEncoderSettings

  /// The layers that this encoder can make.
  public static let scalabilityModes: [ScalabilityMode] = [
    "L1T1", "L1T2", "L1T3", "L2T1", "L2T2", "L2T3", "L3T1", "L3T2", "L3T3", "L2T1_KEY", "L2T2_KEY",
    "L2T3_KEY", "L3T1_KEY", "L3T2_KEY", "L3T3_KEY", "S2T1", "S2T2", "S2T3", "S3T1", "S3T2", "S3T3",
  ].compactMap { ScalabilityMode($0) }

  let context: UnsafeMutablePointer<aom_codec_ctx_t>
  var configuration = aom_codec_enc_cfg_t()
  let structure: ScalabilityStructure
  var isOpen = false
  var ratesChanged = false
  var needsKeyFrame = true
  var patternIndex = 0
  var mediaTime = EncoderMediaTime()

  /// Pictures that were made since the start, and which of them each reference buffer holds.
  var pictureCount = 0
  var bufferPictures = [Int](repeating: 0, count: 8)

  private var image = aom_image_t()
  private let pool = EncodedBufferPool()

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: Self.scalabilityModes)
    self.settings = settings
    structure = ScalabilityStructure(settings.scalabilityMode)
    context = .allocate(capacity: 1)
    context.initialize(to: aom_codec_ctx_t())
    try open()
  }

  deinit {
    if isOpen { aom_codec_destroy(context) }
    context.deallocate()
  }

  public func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    if settings.takeRates(
      targetBitsPerSecond: targetBitsPerSecond, framesPerSecond: framesPerSecond)
    {
      ratesChanged = true
    }
  }

  public func encode(_ frame: VideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32)
    throws(CodecError) -> EncodedFrame?
  {
    if forceKeyFrame { needsKeyFrame = true }
    guard settings.targetBitsPerSecond > 0 else { return nil }
    let buffer = frame.buffer
    if !isOpen || buffer.width != settings.width || buffer.height != settings.height {
      try resize(width: buffer.width, height: buffer.height)
    } else if ratesChanged {
      try applyRates()
    }

    let isKey = needsKeyFrame
    if isKey { patternIndex = 0 }
    let duration = mediaTime.advance(
      to: frame.timestamp, framesPerSecond: settings.framesPerSecond)
    describe(buffer)
    var payload: EncodedBuffer?
    var isKeyFrame = false
    var layers = EncodedFrameLayers()
    for layer in 0..<structure.mode.spatialLayers {
      if isLayered { try setLayer(layer, isKey: isKey) }
      let flags = isKey && layer == 0 ? aom_enc_frame_flags_t(AOM_EFLAG_FORCE_KF) : 0
      let result = aom_codec_encode(context, &image, mediaTime.ticks, UInt(duration), flags)
      guard result == AOM_CODEC_OK else { throw libraryError("encode", result, context) }
      let before = payload?.count ?? 0
      collect(into: &payload, &isKeyFrame)
      // A base layer that rate control dropped takes the layers above with it.
      guard let payload, payload.count > before else { break }
      layers.append(describe(layer: layer, end: payload.count, isKey: isKey))
    }
    guard let payload else { return nil }
    if isKeyFrame {
      needsKeyFrame = false
      for index in bufferPictures.indices { bufferPictures[index] = pictureCount }
    }
    let temporal = structure.temporalLayer(patternIndex)
    layers.temporalLayerCount = structure.mode.temporalLayers
    layers.spatialLayerCount = structure.mode.spatialLayers
    layers.isLayerSync = structure.isLayerSync(patternIndex)
    layers.isSwitchingPoint = isLayered
    layers.isReferenced =
      !isLayered || temporal == 0 || temporal < structure.mode.temporalLayers - 1
    noteUpdates()
    patternIndex = (patternIndex + 1) % structure.period
    pictureCount += 1
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: frame.width, height: frame.height,
      rotation: frame.rotation, temporalLayer: temporal, layers: layers)
  }

  /// Copies what the library made into a pooled buffer.
  private func collect(into payload: inout EncodedBuffer?, _ isKeyFrame: inout Bool) {
    var iterator: aom_codec_iter_t?
    while let packet = aom_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == AOM_CODEC_CX_FRAME_PKT else { continue }
      let part = packet.pointee.data.frame
      guard part.sz > 0, let bytes = part.buf else { continue }
      isKeyFrame = isKeyFrame || part.flags & UInt32(AOM_FRAME_IS_KEY) != 0
      let target = payload ?? pool.take(capacity: part.sz * structure.mode.spatialLayers)
      target.append(UnsafeRawBufferPointer(start: bytes, count: part.sz))
      payload = target
    }
  }

  /// Points the library's image at the picture's own memory. libaom only reads from it, inside of `aom_codec_encode`.
  private func describe(_ buffer: PixelBuffer) {
    let y = buffer.plane(0)
    let u = buffer.plane(1)
    let format = buffer.format == .i420 ? AOM_IMG_FMT_I420 : AOM_IMG_FMT_NV12
    aom_img_wrap(&image, format, UInt32(y.width), UInt32(y.height), 1, Self.writable(y.base))
    image.planes.0 = Self.writable(y.base)
    image.stride.0 = Int32(y.stride)
    image.planes.1 = Self.writable(u.base)
    image.stride.1 = Int32(u.stride)
    switch buffer.format {
    case .i420:
      let v = buffer.plane(2)
      image.planes.2 = Self.writable(v.base)
      image.stride.2 = Int32(v.stride)
    case .nv12:
      image.planes.2 = nil
      image.stride.2 = 0
    }
  }

  private static func writable(_ base: UnsafeRawPointer) -> UnsafeMutablePointer<UInt8> {
    UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
  }
}
