import CSoraX264
public import SoraCodecs
public import SoraMedia
public import SoraNAL

/// An H.264 encoder over libx264, set up for calls: no lookahead, no B-frames, constant bitrate within a small buffer, key
/// frames only when asked for, parameter sets with each of them, Annex B.
///
/// One temporal layer: the library has no choice of references a frame, and every P-frame of it may be referred to.
/// Confined to one serial executor or thread, as `VideoEncoder` says.
public final class X264Encoder: VideoEncoder {
  public let kind = VideoCodecKind.h264
  public let implementationName = libraryName
  public internal(set) var settings: VideoEncoderSettings
  /// Profile, level and slices of the stream, from settings and format parameters.
  public internal(set) var format: H264EncodingFormat

  /// Profiles that this encoder makes. For Baseline it makes Constrained Baseline, for Constrained High it makes High
  /// without what the former lacks.
  public static let profiles: [H264Profile] = [
    .constrainedBaseline, .baseline, .main, .high, .constrainedHigh,
  ]

  var encoder: OpaquePointer?
  let parameters: UnsafeMutablePointer<x264_param_t>
  /// The library's last error.
  let log: UnsafeMutablePointer<CChar>
  private let picture: UnsafeMutablePointer<x264_picture_t>
  private let output: UnsafeMutablePointer<x264_picture_t>
  private let pool = EncodedBufferPool()
  var ratesChanged = false
  var needsKeyFrame = true
  var clock = MediaClock()
  var dropper = FrameDropper(bound: 0.6)
  /// Frames that the library got, which are its time.
  private var frames: Int64 = 0
  /// Frames a second that the library was started with, and those that its present rates are meant for.
  var openFrameRate = 30.0
  var appliedFrameRate = 30.0

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: [.l1t1])
    format = try H264EncodingFormat(settings, profiles: Self.profiles)
    self.settings = settings
    parameters = .allocate(capacity: 1)
    parameters.initialize(to: x264_param_t())
    log = .allocate(capacity: Int(SORA_X264_LOG_SIZE))
    log.initialize(repeating: 0, count: Int(SORA_X264_LOG_SIZE))
    picture = .allocate(capacity: 1)
    picture.initialize(to: x264_picture_t())
    output = .allocate(capacity: 1)
    output.initialize(to: x264_picture_t())
    try open()
  }

  deinit {
    if let encoder { x264_encoder_close(encoder) }
    parameters.deallocate()
    log.deallocate()
    picture.deallocate()
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
    let step = clock.advance(to: frame.timestamp, framesPerSecond: settings.framesPerSecond)
    let isOwing = dropper.shouldDrop(
      bitsPerSecond: format.bitsPerSecond(settings), elapsed: Double(step) / 90_000)
    if ratesChanged || clock.differs(from: appliedFrameRate) { try applyRates() }
    guard let encoder else { return nil }
    if isOwing, settings.allowsFrameDropping, !needsKeyFrame { return nil }

    describe(buffer)
    picture.pointee.i_type = needsKeyFrame ? X264_TYPE_IDR : X264_TYPE_P
    picture.pointee.i_pts = frames
    frames &+= 1
    var units: UnsafeMutablePointer<x264_nal_t>?
    var count: Int32 = 0
    let size = x264_encoder_encode(encoder, &units, &count, picture, output)
    guard size >= 0 else { throw libraryError("encode", Int(size)) }
    guard size > 0, let units else { return nil }
    return collect(
      UnsafeBufferPointer(start: units, count: Int(count)), size: Int(size), frame,
      rtpTimestamp: rtpTimestamp)
  }

  /// Copies the NAL units of a picture into a pooled buffer.
  private func collect(
    _ units: UnsafeBufferPointer<x264_nal_t>, size: Int, _ frame: VideoFrame, rtpTimestamp: UInt32
  ) -> EncodedFrame? {
    let payload = pool.take(capacity: size)
    for unit in units {
      // The library's settings in words, as long as a packet, are of no use to anybody.
      guard unit.i_type != Int32(NAL_SEI.rawValue) else { continue }
      payload.append(UnsafeRawBufferPointer(start: unit.p_payload, count: Int(unit.i_payload)))
    }
    guard payload.count > 0 else { return nil }
    let isKeyFrame = output.pointee.b_keyframe != 0
    if isKeyFrame { needsKeyFrame = false }
    dropper.sent(bytes: payload.count)
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: format.width, height: format.height,
      rotation: frame.rotation)
  }

  /// Points the library's image at the picture's own memory, which it copies inside of `x264_encoder_encode`.
  private func describe(_ buffer: PixelBuffer) {
    x264_picture_init(picture)
    let y = buffer.plane(0)
    let u = buffer.plane(1)
    picture.pointee.img.plane.0 = Self.writable(y.base)
    picture.pointee.img.i_stride.0 = Int32(y.stride)
    picture.pointee.img.plane.1 = Self.writable(u.base)
    picture.pointee.img.i_stride.1 = Int32(u.stride)
    switch buffer.format {
    case .i420:
      let v = buffer.plane(2)
      picture.pointee.img.i_csp = X264_CSP_I420
      picture.pointee.img.i_plane = 3
      picture.pointee.img.plane.2 = Self.writable(v.base)
      picture.pointee.img.i_stride.2 = Int32(v.stride)
    case .nv12:
      picture.pointee.img.i_csp = X264_CSP_NV12
      picture.pointee.img.i_plane = 2
    }
  }

  private static func writable(_ base: UnsafeRawPointer) -> UnsafeMutablePointer<UInt8> {
    UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
  }

  /// The error of a call that failed, with the library's own words.
  func libraryError(_ operation: String, _ code: Int) -> CodecError {
    let text = String(cString: log).filter { $0 != "\n" }
    log.pointee = 0
    return .library(
      name: "libx264", operation: operation, code: code, detail: text.isEmpty ? "no reason" : text)
  }
}
