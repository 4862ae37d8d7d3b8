import CSoraVPX
import CVPX
public import SoraCodecs
public import SoraMedia

/// A VP9 encoder over libvpx, set up for calls: real-time deadline, constant bitrate, no lookahead, no alternate
/// reference, key frames only when asked for, temporal and spatial layers.
///
/// With several spatial layers an `EncodedFrame` holds all layers of its picture, lowest first, and
/// `EncodedFrame.layers` says where each ends; sizes are rounded down to even numbers then. Confined to one serial
/// executor or thread, as `VideoEncoder` says.
public final class VP9Encoder: VideoEncoder {
  public let kind = VideoCodecKind.vp9
  public let implementationName = libraryName
  public internal(set) var settings: VideoEncoderSettings

  /// The layers that this encoder can make.
  public static let scalabilityModes: [ScalabilityMode] = [
    "L1T1", "L1T2", "L1T3", "L2T1", "L2T2", "L2T3", "L3T1", "L3T2", "L3T3", "L2T1_KEY", "L2T2_KEY",
    "L2T3_KEY", "L3T1_KEY", "L3T2_KEY", "L3T3_KEY", "S2T1", "S2T2", "S2T3", "S3T1", "S3T2", "S3T3",
  ].compactMap { ScalabilityMode($0) }

  let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  var configuration = vpx_codec_enc_cfg_t()
  let structure: ScalabilityStructure
  var isOpen = false
  var ratesChanged = false
  var needsKeyFrame = true
  var patternIndex = 0
  var mediaTime = EncoderMediaTime()

  /// Pictures that were made since the start, and which of them each reference buffer holds.
  var pictureCount = 0
  var bufferPictures = [Int](repeating: 0, count: 8)

  private var image = vpx_image_t()
  private let pool = EncodedBufferPool()
  // What the library hands over while it encodes one picture.
  private var payload: EncodedBuffer?
  private var isKeyFrame = false
  private var layers = EncodedFrameLayers()

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: Self.scalabilityModes)
    self.settings = settings
    structure = ScalabilityStructure(settings.scalabilityMode)
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    try open()
  }

  deinit {
    if isOpen { vpx_codec_destroy(context) }
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

    if needsKeyFrame { patternIndex = 0 }
    if isLayered { try setLayers() }
    let duration = mediaTime.advance(
      to: frame.timestamp, framesPerSecond: settings.framesPerSecond)
    describe(buffer)
    payload = nil
    isKeyFrame = false
    layers = EncodedFrameLayers()
    let flags = needsKeyFrame ? Int(VPX_EFLAG_FORCE_KF) : 0
    let result = vpx_codec_encode(
      context, &image, mediaTime.ticks, UInt(duration), vpx_enc_frame_flags_t(flags),
      UInt(VPX_DL_REALTIME))
    guard result == VPX_CODEC_OK else {
      payload = nil
      throw libraryError("encode", result, context)
    }
    var iterator: vpx_codec_iter_t?
    while let packet = vpx_codec_get_cx_data(context, &iterator) {
      // Layered frames have come through the callback by now.
      if !isLayered { collect(packet.pointee) }
    }
    return finish(frame, rtpTimestamp: rtpTimestamp)
  }

  /// Keeps what the library made: a whole frame, or one spatial layer of it.
  func collect(_ packet: vpx_codec_cx_pkt_t) {
    guard packet.kind == VPX_CODEC_CX_FRAME_PKT, packet.data.frame.sz > 0 else { return }
    let part = packet.data.frame
    isKeyFrame = isKeyFrame || part.flags & UInt32(VPX_FRAME_IS_KEY) != 0
    let target =
      payload ?? pool.take(capacity: isLayered ? part.sz * structure.mode.spatialLayers : part.sz)
    target.append(UnsafeRawBufferPointer(start: part.buf, count: part.sz))
    payload = target
    var layer = 0
    if isLayered {
      var id = vpx_svc_layer_id_t()
      let known = sora_vpx_set_pointer(context, Int32(VP9E_GET_SVC_LAYER_ID.rawValue), &id)
      layer = known == VPX_CODEC_OK ? Int(id.spatial_layer_id) : layers.count
    }
    layers.append(describe(layer: layer, end: target.count, isKey: isKeyFrame))
  }

  /// Nil where rate control dropped the picture.
  private func finish(_ frame: VideoFrame, rtpTimestamp: UInt32) -> EncodedFrame? {
    guard let payload, payload.count > 0 else { return nil }
    self.payload = nil
    if isKeyFrame {
      needsKeyFrame = false
      for index in bufferPictures.indices { bufferPictures[index] = pictureCount }
    }
    let temporal = structure.temporalLayer(patternIndex)
    layers.temporalLayerCount = structure.mode.temporalLayers
    layers.spatialLayerCount = structure.mode.spatialLayers
    layers.isLayerSync = structure.isLayerSync(patternIndex)
    // Upper layers never reach back beyond the base layer before them.
    layers.isSwitchingPoint = isLayered
    layers.isReferenced =
      !isLayered || temporal < structure.mode.temporalLayers - 1 || temporal == 0
    noteUpdates()
    patternIndex = (patternIndex + 1) % structure.period
    pictureCount += 1
    let top = layers.count > 0 ? layers[layers.count - 1] : SpatialLayerFrame()
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: top.width, height: top.height, rotation: frame.rotation,
      temporalLayer: temporal, layers: layers)
  }

  /// Points the library's image at the picture's own memory. libvpx only reads from it, inside of `vpx_codec_encode`.
  private func describe(_ buffer: PixelBuffer) {
    let y = buffer.plane(0)
    let u = buffer.plane(1)
    let format = buffer.format == .i420 ? VPX_IMG_FMT_I420 : VPX_IMG_FMT_NV12
    let size = codedSize(buffer.width, buffer.height)
    vpx_img_wrap(
      &image, format, UInt32(size.width), UInt32(size.height), 1, Self.writable(y.base))
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
      image.planes.2 = Self.writable(u.base + 1)
      image.stride.2 = Int32(u.stride)
    }
  }

  private static func writable(_ base: UnsafeRawPointer) -> UnsafeMutablePointer<UInt8> {
    UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
  }
}
