import CSoraOpenH264
public import SoraCodecs
public import SoraMedia
public import SoraNAL

/// An H.264 encoder over OpenH264, set up for calls: constant bitrate, key frames only when asked for, parameter sets with
/// each of them, Annex B, one to three temporal layers.
///
/// NV12 costs a copy of the chroma, which the library wants in planes; I420 is read where it lies. Confined to one serial
/// executor or thread, as `VideoEncoder` says.
public final class OpenH264Encoder: VideoEncoder {
  public let kind = VideoCodecKind.h264
  public let implementationName = libraryName
  public internal(set) var settings: VideoEncoderSettings
  /// Profile, level and slices of the stream, from settings and format parameters.
  public internal(set) var format: H264EncodingFormat

  /// Profiles that this encoder makes. For Baseline it makes Constrained Baseline; Main and High differ from it by CABAC.
  public static let profiles: [H264Profile] = [
    .constrainedBaseline, .baseline, .main, .high, .constrainedHigh,
  ]

  var encoder: OpaquePointer?
  let parameters: UnsafeMutablePointer<SEncParamExt>
  private let output: UnsafeMutablePointer<SFrameBSInfo>
  private let pool = EncodedBufferPool()
  private var chroma = PlanarChroma()
  var ratesChanged = false
  var needsKeyFrame = true
  var clock = MediaClock()
  /// Frames a second that the library was told last.
  var appliedFrameRate = 30.0
  /// Frames since the last one of the base layer.
  private var sinceBase = 0

  var temporalLayers: Int { settings.scalabilityMode.temporalLayers }

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: [.l1t1, .l1t2, .l1t3])
    format = try H264EncodingFormat(settings, profiles: Self.profiles)
    self.settings = settings
    parameters = .allocate(capacity: 1)
    parameters.initialize(to: SEncParamExt())
    output = .allocate(capacity: 1)
    output.initialize(to: SFrameBSInfo())
    try open()
  }

  deinit {
    if let encoder { sora_openh264_encoder_destroy(encoder) }
    parameters.deallocate()
    output.deallocate()
  }

  public func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    let isNew = settings.takeRates(
      targetBitsPerSecond: targetBitsPerSecond, framesPerSecond: framesPerSecond)
    if isNew { ratesChanged = true }
  }

  public func encode(_ frame: VideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32)
    throws(CodecError) -> EncodedFrame?
  {
    if forceKeyFrame { needsKeyFrame = true }
    guard settings.targetBitsPerSecond > 0 else { return nil }
    let buffer = frame.buffer
    if buffer.width != settings.width || buffer.height != settings.height {
      try resize(width: buffer.width, height: buffer.height)
    } else if encoder == nil {
      try open()
    }
    _ = clock.advance(to: frame.timestamp, framesPerSecond: settings.framesPerSecond)
    if ratesChanged || clock.differs(from: appliedFrameRate) { try applyRates() }
    guard let encoder else { return nil }
    if needsKeyFrame {
      let result = sora_openh264_encoder_force_key_frame(encoder)
      guard result == 0 else { throw libraryError("make a key frame", Int(result)) }
    }
    var picture = describe(buffer)
    picture.uiTimeStamp = clock.ticks / 90
    let result = sora_openh264_encoder_encode(encoder, &picture, output)
    guard result == 0 else { throw libraryError("encode", Int(result)) }
    return collect(frame, rtpTimestamp: rtpTimestamp)
  }

  /// Copies the NAL units of a picture into a pooled buffer; nil where rate control dropped it.
  private func collect(_ frame: VideoFrame, rtpTimestamp: UInt32) -> EncodedFrame? {
    let type = output.pointee.eFrameType
    guard type != videoFrameTypeSkip, type != videoFrameTypeInvalid, output.pointee.iLayerNum > 0
    else { return nil }
    let payload = pool.take(capacity: Int(max(0, output.pointee.iFrameSizeInBytes)))
    var temporalLayer = 0
    for index in 0..<output.pointee.iLayerNum {
      guard let layer = sora_openh264_output_layer(output, index) else { continue }
      let size = sora_openh264_layer_size(layer)
      payload.append(UnsafeRawBufferPointer(start: layer.pointee.pBsBuf, count: Int(size)))
      if Int32(layer.pointee.uiLayerType) == Int32(VIDEO_CODING_LAYER.rawValue) {
        temporalLayer = Int(layer.pointee.uiTemporalId)
      }
    }
    guard payload.count > 0 else { return nil }
    let isKeyFrame = type == videoFrameTypeIDR
    if isKeyFrame { needsKeyFrame = false }
    sinceBase = temporalLayer == 0 ? 0 : sinceBase + 1
    var layers = EncodedFrameLayers()
    layers.temporalLayerCount = temporalLayers
    // The library refers to the last picture of a lower layer: right behind the base layer that is the base layer, and so
    // it is for the layer above it, whatever lies between (T0 T2 T1 T2).
    layers.isLayerSync = temporalLayer == 1 || (temporalLayer > 1 && sinceBase == 1)
    layers.isReferenced = temporalLayers == 1 || temporalLayer < temporalLayers - 1
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: format.width, height: format.height,
      rotation: frame.rotation, temporalLayer: temporalLayer, layers: layers)
  }

  /// Points the library's picture at the frame's own memory, and at ours for chroma that comes interleaved. All of it is
  /// only read, inside of `encode`.
  private func describe(_ buffer: PixelBuffer) -> SSourcePicture {
    let first = buffer.plane(0)
    let second = buffer.plane(1)
    var picture = SSourcePicture()
    picture.iColorFormat = Int32(videoFormatI420.rawValue)
    picture.iPicWidth = Int32(format.width)
    picture.iPicHeight = Int32(format.height)
    picture.iStride.0 = Int32(first.stride)
    picture.pData.0 = Self.writable(first.base)
    switch buffer.format {
    case .i420:
      let third = buffer.plane(2)
      picture.iStride.1 = Int32(second.stride)
      picture.iStride.2 = Int32(third.stride)
      picture.pData.1 = Self.writable(second.base)
      picture.pData.2 = Self.writable(third.base)
    case .nv12:
      let (u, v, stride) = chroma.split(second)
      picture.iStride.1 = Int32(stride)
      picture.iStride.2 = Int32(stride)
      picture.pData.1 = Self.writable(u)
      picture.pData.2 = Self.writable(v)
    }
    return picture
  }

  private static func writable(_ base: UnsafeRawPointer) -> UnsafeMutablePointer<UInt8> {
    UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
  }
}
