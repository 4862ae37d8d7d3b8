import CSoraVPX
import CVPX
public import SoraCodecs
public import SoraMedia

/// A VP8 encoder over libvpx, set up for calls: real-time deadline, constant bitrate, no lookahead, no alternate
/// reference, key frames only when asked for.
///
/// Confined to one serial executor or thread, as `VideoEncoder` says.
public final class VP8Encoder: VideoEncoder {
  public let kind = VideoCodecKind.vp8
  public let implementationName = libraryName
  public private(set) var settings: VideoEncoderSettings

  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var configuration = vpx_codec_enc_cfg_t()
  private var image = vpx_image_t()
  private let pool = EncodedBufferPool()
  private let pattern: VP8TemporalPattern
  private var isOpen = false
  private var ratesChanged = false
  private var needsKeyFrame = true
  private var patternIndex = 0
  private var mediaTime = EncoderMediaTime()

  /// The layers that this encoder can make.
  public static let scalabilityModes: [ScalabilityMode] = [.l1t1, .l1t2, .l1t3]

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: Self.scalabilityModes)
    self.settings = settings
    pattern = VP8TemporalPattern(layers: settings.scalabilityMode.temporalLayers)
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
    var flags = needsKeyFrame ? Int(VPX_EFLAG_FORCE_KF) : pattern.flags(patternIndex)
    let layer = pattern.layer(patternIndex)
    if pattern.layers > 1 {
      // A key frame fills all reference buffers, whatever the pattern says.
      if needsKeyFrame { flags = Int(VPX_EFLAG_FORCE_KF) }
      try set(VP8E_SET_TEMPORAL_LAYER_ID, layer, "set the temporal layer")
    }

    let duration = mediaTime.advance(
      to: frame.timestamp, framesPerSecond: settings.framesPerSecond)
    describe(buffer)
    let result = vpx_codec_encode(
      context, &image, mediaTime.ticks, UInt(duration), vpx_enc_frame_flags_t(flags),
      UInt(VPX_DL_REALTIME))
    guard result == VPX_CODEC_OK else { throw libraryError("encode", result, context) }
    return collect(frame, layer: layer, rtpTimestamp: rtpTimestamp)
  }

  /// Copies what the library made of the last picture into a pooled buffer; nil where rate control dropped it.
  private func collect(_ frame: VideoFrame, layer: Int, rtpTimestamp: UInt32) -> EncodedFrame? {
    var iterator: vpx_codec_iter_t?
    var payload: EncodedBuffer?
    var isKeyFrame = false
    while let packet = vpx_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
      let part = packet.pointee.data.frame
      isKeyFrame = isKeyFrame || part.flags & UInt32(VPX_FRAME_IS_KEY) != 0
      let target = payload ?? pool.take(capacity: part.sz)
      target.append(UnsafeRawBufferPointer(start: part.buf, count: part.sz))
      payload = target
    }
    guard let payload, payload.count > 0 else { return nil }
    if isKeyFrame { needsKeyFrame = false }
    var layers = EncodedFrameLayers()
    layers.temporalLayerCount = pattern.layers
    layers.isLayerSync = !isKeyFrame && pattern.isLayerSync(patternIndex)
    layers.isReferenced = isKeyFrame || layer == 0 || layer < pattern.layers - 1
    patternIndex = (patternIndex + 1) % pattern.period
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: frame.width, height: frame.height,
      rotation: frame.rotation, temporalLayer: isKeyFrame ? 0 : layer, layers: layers)
  }

  /// Points the library's image at the picture's own memory. libvpx only reads from it, inside of `vpx_codec_encode`.
  private func describe(_ buffer: PixelBuffer) {
    let y = buffer.plane(0)
    let u = buffer.plane(1)
    let format = buffer.format == .i420 ? VPX_IMG_FMT_I420 : VPX_IMG_FMT_NV12
    vpx_img_wrap(&image, format, UInt32(y.width), UInt32(y.height), 1, Self.writable(y.base))
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

// MARK: Configuration

extension VP8Encoder {
  /// Starts over in another size. The library could shrink a running encoder but not grow it; one way for both means
  /// one behaviour: a key frame, then prediction again.
  private func resize(width: Int, height: Int) throws(CodecError) {
    var wanted = settings
    wanted.width = width
    wanted.height = height
    try wanted.validate()
    if isOpen {
      vpx_codec_destroy(context)
      isOpen = false
    }
    settings = wanted
    try open()
  }

  /// libvpx's VP8 threads wait for each other by spinning: on cores that others want too, two of them at 720p took seven
  /// times the CPU and gave a fifth of the frames of one. One thread encodes 720p30 in a quarter of a core.
  private var threadCount: Int {
    guard settings.threads == 0, settings.width &* settings.height <= 1_280 * 720 else {
      return settings.threadCount(width: settings.width, height: settings.height)
    }
    return 1
  }

  private func open() throws(CodecError) {
    let interface = vpx_codec_vp8_cx()
    var result = vpx_codec_enc_config_default(interface, &configuration, 0)
    guard result == VPX_CODEC_OK else { throw libraryError("read its defaults", result) }
    let threads = threadCount
    configuration.g_w = UInt32(settings.width)
    configuration.g_h = UInt32(settings.height)
    configuration.g_timebase = vpx_rational_t(num: 1, den: 90_000)
    configuration.g_threads = UInt32(threads)
    configuration.g_pass = VPX_RC_ONE_PASS
    configuration.g_lag_in_frames = 0
    // A frame whose predecessors may be missing must not rely on their probabilities.
    configuration.g_error_resilient =
      pattern.layers > 1 ? vpx_codec_er_flags_t(VPX_ERROR_RESILIENT_DEFAULT) : 0
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_dropframe_thresh = settings.allowsFrameDropping ? 30 : 0
    configuration.rc_resize_allowed = 0
    configuration.rc_min_quantizer = settings.contentHint == .text ? 8 : 2
    configuration.rc_max_quantizer = 56
    configuration.rc_undershoot_pct = 100
    configuration.rc_overshoot_pct = 15
    // Milliseconds at the target rate: a call can't wait for a bucket of several seconds to empty.
    configuration.rc_buf_initial_sz = 500
    configuration.rc_buf_optimal_sz = 600
    configuration.rc_buf_sz = 1_000
    configuration.kf_mode = VPX_KF_DISABLED
    configuration.kf_max_dist = 99_999
    fillRates()

    context.pointee = vpx_codec_ctx_t()
    result = sora_vpx_encoder_init(context, interface, &configuration, 0)
    guard result == VPX_CODEC_OK else { throw libraryError("start an encoder", result, context) }
    isOpen = true
    needsKeyFrame = true
    ratesChanged = false
    patternIndex = 0
    mediaTime = EncoderMediaTime()
    try set(
      VP8E_SET_CPUUSED, settings.speed ?? Self.speed(settings.width, settings.height),
      "set its speed")
    try set(VP8E_SET_NOISE_SENSITIVITY, 0, "set its noise sensitivity")
    try set(
      VP8E_SET_STATIC_THRESHOLD, settings.contentHint == .motion ? 1 : 100,
      "set its static threshold")
    // One partition a thread, for the sake of decoders with threads of their own.
    try set(
      VP8E_SET_TOKEN_PARTITIONS, threads >= 4 ? 2 : threads >= 2 ? 1 : 0,
      "set its token partitions")
    try set(VP8E_SET_ENABLEAUTOALTREF, 0, "turn off alternate references")
    try set(
      VP8E_SET_SCREEN_CONTENT_MODE, settings.contentHint == .text ? 1 : 0, "set its content mode")
    try setKeyFrameLimit()
  }

  private func applyRates() throws(CodecError) {
    fillRates()
    let result = vpx_codec_enc_config_set(context, &configuration)
    guard result == VPX_CODEC_OK else { throw libraryError("change its rates", result, context) }
    try setKeyFrameLimit()
    ratesChanged = false
  }

  private func fillRates() {
    var bits = settings.targetBitsPerSecond
    if settings.maximumBitsPerSecond > 0 { bits = min(bits, settings.maximumBitsPerSecond) }
    let kilobits = UInt32(min(max(bits / 1_000, 1), 2_000_000))
    configuration.rc_target_bitrate = kilobits
    configuration.ts_number_layers = UInt32(pattern.layers)
    guard pattern.layers > 1 else { return }
    let shares = pattern.cumulativeShares.map { max(1, kilobits * $0 / 100) }
    configuration.ts_periodicity = UInt32(pattern.period)
    configuration.ts_target_bitrate.0 = shares[0]
    configuration.ts_target_bitrate.1 = shares[1]
    if pattern.layers == 2 {
      configuration.ts_rate_decimator.0 = 2
      configuration.ts_rate_decimator.1 = 1
      configuration.ts_layer_id.0 = 0
      configuration.ts_layer_id.1 = 1
    } else {
      configuration.ts_target_bitrate.2 = shares[2]
      configuration.ts_rate_decimator.0 = 4
      configuration.ts_rate_decimator.1 = 2
      configuration.ts_rate_decimator.2 = 1
      configuration.ts_layer_id.0 = 0
      configuration.ts_layer_id.1 = 2
      configuration.ts_layer_id.2 = 1
      configuration.ts_layer_id.3 = 2
    }
  }

  /// Bounds a key frame to half of the optimal buffer: in percent of the bits of an average frame, at least three.
  private func setKeyFrameLimit() throws(CodecError) {
    let percent = Double(configuration.rc_buf_optimal_sz) * 0.5 * settings.framesPerSecond / 10
    try set(VP8E_SET_MAX_INTRA_BITRATE_PCT, max(300, Int(percent)), "bound its key frames")
  }

  private func set(_ control: vp8e_enc_control_id, _ value: Int, _ operation: String)
    throws(CodecError)
  {
    let result = sora_vpx_set(context, Int32(control.rawValue), Int32(truncatingIfNeeded: value))
    guard result == VPX_CODEC_OK else { throw libraryError(operation, result, context) }
  }

  /// The library's speed. Negative means fixed, so that quality doesn't depend on how busy the machine is.
  ///
  /// Measured on a moving pattern at 720p30 and 2 Mbit/s (2.5 GHz Xeon, one thread): -6 takes 8.4 ms a frame, -8 takes
  /// 7.0 ms and loses 1.8 dB, -12 takes 5.3 ms and loses 2.9 dB. Small pictures leave time for -4, worth 1 dB.
  private static func speed(_ width: Int, _ height: Int) -> Int {
    switch width &* height {
    case ...(352 * 288): -4
    case ...(1280 * 720): -6
    default: -8
    }
  }
}
