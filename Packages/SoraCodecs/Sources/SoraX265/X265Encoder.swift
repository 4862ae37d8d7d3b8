import CSoraX265
import CX265
public import SoraCodecs
public import SoraMedia
public import SoraNAL

/// An H.265 encoder over libx265, set up for calls: no lookahead, no B-frames, constant bitrate, key frames only when asked
/// for, parameter sets with each of them, Annex B, main profile.
///
/// One temporal layer: the library puts nothing but B-frames into a second one. Confined to one serial executor or thread,
/// as `VideoEncoder` says; the library has threads of its own besides.
public final class X265Encoder: VideoEncoder {
  public let kind = VideoCodecKind.h265
  public let implementationName = libraryName
  public internal(set) var settings: VideoEncoderSettings
  /// Level and size of the stream, from settings and format parameters.
  public internal(set) var format: H265EncodingFormat

  var encoder: OpaquePointer?
  let parameters: UnsafeMutablePointer<x265_param>
  private let picture: UnsafeMutablePointer<x265_picture>
  private let pool = EncodedBufferPool()
  private var chroma = PlanarChroma()
  var needsKeyFrame = true
  var control = QuantizerControl()
  private var clock = MediaClock()
  private var dropper = FrameDropper(bound: 0.6)
  /// Frames that the library got, which are its time.
  private var frames: Int64 = 0

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: [.l1t1])
    format = try H265EncodingFormat(settings)
    guard let parameters = x265_param_alloc() else {
      throw libraryError("start an encoder", -1, "out of memory")
    }
    guard let picture = x265_picture_alloc() else {
      x265_param_free(parameters)
      throw libraryError("start an encoder", -1, "out of memory")
    }
    self.settings = settings
    self.parameters = parameters
    self.picture = picture
    try open()
  }

  deinit {
    close()
    x265_picture_free(picture)
    x265_param_free(parameters)
  }

  public func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    _ = settings.takeRates(
      targetBitsPerSecond: targetBitsPerSecond, framesPerSecond: framesPerSecond)
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
    let seconds =
      Double(clock.advance(to: frame.timestamp, framesPerSecond: settings.framesPerSecond)) / 90_000
    let bitsPerSecond = max(format.bitsPerSecond(settings), 1_000)
    control.advance(seconds: seconds, bitsPerSecond: Double(bitsPerSecond))
    let isOwing = dropper.shouldDrop(bitsPerSecond: bitsPerSecond, elapsed: seconds)
    guard let encoder else { return nil }
    if isOwing, settings.allowsFrameDropping, !needsKeyFrame { return nil }

    let quantizer = control.quantizer(
      buffer.plane(0), isKeyFrame: needsKeyFrame, bitsPerSecond: Double(bitsPerSecond),
      framesPerSecond: clock.framesPerSecond ?? settings.framesPerSecond,
      coarsest: coarsestQuantizer)
    describe(buffer)
    picture.pointee.sliceType = needsKeyFrame ? X265_TYPE_IDR : X265_TYPE_P
    // 0 would leave the choice to the library.
    picture.pointee.forceqp = Int32(quantizer) + 1
    picture.pointee.pts = frames
    frames &+= 1
    var units: UnsafeMutablePointer<x265_nal>?
    var count: UInt32 = 0
    let result = x265_encoder_encode(encoder, &units, &count, picture, nil)
    guard result >= 0 else { throw libraryError("encode", Int(result), "no reason") }
    guard result > 0, let units, count > 0 else {
      throw libraryError("encode", 0, "it held a picture back")
    }
    return collect(
      UnsafeBufferPointer(start: units, count: Int(count)), frame, rtpTimestamp: rtpTimestamp)
  }

  /// Copies the NAL units of a picture, which lie behind each other, into a pooled buffer.
  private func collect(
    _ units: UnsafeBufferPointer<x265_nal>, _ frame: VideoFrame, rtpTimestamp: UInt32
  ) -> EncodedFrame {
    var size = 0
    var isKeyFrame = false
    for unit in units {
      size += Int(unit.sizeBytes)
      if H265NALUnitType(rawValue: UInt8(truncatingIfNeeded: unit.type)).isRandomAccess {
        isKeyFrame = true
      }
    }
    let payload = pool.take(capacity: size)
    payload.append(UnsafeRawBufferPointer(start: units[0].payload, count: size))
    if isKeyFrame { needsKeyFrame = false }
    dropper.sent(bytes: size)
    control.encoded(bytes: size, isKeyFrame: isKeyFrame)
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: format.width, height: format.height,
      rotation: frame.rotation)
  }

  /// Points the library's picture at the frame's own memory, which it copies inside of `x265_encoder_encode`.
  private func describe(_ buffer: PixelBuffer) {
    let y = buffer.plane(0)
    picture.pointee.bitDepth = 8
    picture.pointee.colorSpace = X265_CSP_I420
    picture.pointee.planes.0 = UnsafeMutableRawPointer(mutating: y.base)
    picture.pointee.stride.0 = Int32(y.stride)
    let u: UnsafeRawPointer
    let v: UnsafeRawPointer
    let stride: Int
    switch buffer.format {
    case .i420:
      u = buffer.plane(1).base
      v = buffer.plane(2).base
      stride = buffer.plane(1).stride
      picture.pointee.stride.2 = Int32(buffer.plane(2).stride)
    case .nv12:
      // The library takes planes only.
      (u, v, stride) = chroma.split(buffer.plane(1))
      picture.pointee.stride.2 = Int32(stride)
    }
    picture.pointee.planes.1 = UnsafeMutableRawPointer(mutating: u)
    picture.pointee.stride.1 = Int32(stride)
    picture.pointee.planes.2 = UnsafeMutableRawPointer(mutating: v)
  }

  func resetPicture() { x265_picture_init(parameters, picture) }

  func close() {
    if let encoder { x265_encoder_close(encoder) }
    encoder = nil
  }
}

/// The error of a call that failed. The library keeps its reasons to itself, or prints them.
func libraryError(_ operation: String, _ code: Int, _ detail: String) -> CodecError {
  .library(name: "libx265", operation: operation, code: code, detail: detail)
}
