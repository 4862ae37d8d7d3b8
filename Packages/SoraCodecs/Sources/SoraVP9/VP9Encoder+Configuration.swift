import CSoraVPX
import CVPX
import SoraCodecs

extension VP9Encoder {
  /// Starts over in another size: one way for growing, shrinking and layers means one behaviour, a key frame and then
  /// prediction again.
  func resize(width: Int, height: Int) throws(CodecError) {
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

  func open() throws(CodecError) {
    let interface = vpx_codec_vp9_cx()
    var result = vpx_codec_enc_config_default(interface, &configuration, 0)
    guard result == VPX_CODEC_OK else { throw libraryError("read its defaults", result) }
    let size = codedSize(settings.width, settings.height)
    let threads = settings.threadCount(width: size.width, height: size.height)
    configuration.g_w = UInt32(size.width)
    configuration.g_h = UInt32(size.height)
    configuration.g_profile = 0
    configuration.g_timebase = vpx_rational_t(num: 1, den: 90_000)
    configuration.g_threads = UInt32(threads)
    configuration.g_pass = VPX_RC_ONE_PASS
    configuration.g_lag_in_frames = 0
    // A frame whose predecessors may have been left out must not rely on their probabilities.
    configuration.g_error_resilient =
      isLayered ? vpx_codec_er_flags_t(VPX_ERROR_RESILIENT_DEFAULT) : 0
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_dropframe_thresh = settings.allowsFrameDropping ? 30 : 0
    configuration.rc_resize_allowed = 0
    configuration.rc_min_quantizer = settings.contentHint == .text ? 8 : 2
    configuration.rc_max_quantizer = 56
    configuration.rc_undershoot_pct = 50
    configuration.rc_overshoot_pct = 50
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
    try setTools(width: size.width, height: size.height, threads: threads)
    if isLayered { try startLayers() }
  }

  private func setTools(width: Int, height: Int, threads: Int) throws(CodecError) {
    let isText = settings.contentHint == .text
    try set(VP8E_SET_CPUUSED, settings.speed ?? Self.speed(width, height), "set its speed")
    // Cyclic refresh: a few blocks of each frame are coded better, so that no periodic key frame is needed.
    try set(VP9E_SET_AQ_MODE, 3, "set adaptive quantization")
    try set(VP9E_SET_ROW_MT, threads > 1 ? 1 : 0, "let threads share rows")
    // A tile is 256 columns wide at least; more tiles than threads only cost bits.
    var tiles = 0
    while 1 << tiles < threads, width >= 256 << (tiles + 1) { tiles += 1 }
    try set(VP9E_SET_TILE_COLUMNS, tiles, "set its tile columns")
    try set(VP9E_SET_FRAME_PARALLEL_DECODING, 0, "let frames adapt their probabilities")
    try set(VP8E_SET_ENABLEAUTOALTREF, 0, "turn off alternate references")
    try set(VP9E_SET_NOISE_SENSITIVITY, 0, "set its noise sensitivity")
    try set(
      VP8E_SET_STATIC_THRESHOLD, settings.contentHint == .motion ? 1 : 100,
      "set its static threshold")
    let content = isText ? VP9E_CONTENT_SCREEN : VP9E_CONTENT_DEFAULT
    try set(VP9E_SET_TUNE_CONTENT, Int(content.rawValue), "set its content mode")
    try setKeyFrameLimit()
  }

  private func startLayers() throws(CodecError) {
    try set(VP9E_SET_SVC, 1, "turn on layers")
    var parameters = vpx_svc_extra_cfg_t()
    let count = structure.mode.spatialLayers * structure.mode.temporalLayers
    let minimum = Int32(configuration.rc_min_quantizer)
    let maximum = Int32(configuration.rc_max_quantizer)
    withElements(&parameters.min_quantizers) { for layer in 0..<count { $0[layer] = minimum } }
    withElements(&parameters.max_quantizers) { for layer in 0..<count { $0[layer] = maximum } }
    for layer in 0..<structure.mode.spatialLayers {
      let size = layerSize(layer)
      let speed = Int32(settings.speed ?? Self.speed(size.width, size.height))
      withElements(&parameters.scaling_factor_num) { $0[layer] = 1 }
      withElements(&parameters.scaling_factor_den) { $0[layer] = Int32(structure.scale(layer)) }
      withElements(&parameters.speed_per_layer) { $0[layer] = speed }
      withElements(&parameters.loopfilter_ctrl) { $0[layer] = 0 }
    }
    parameters.temporal_layering_mode = Int32(VP9E_TEMPORAL_LAYERING_MODE_BYPASS.rawValue)
    try set(VP9E_SET_SVC_PARAMETERS, &parameters, "describe its layers")

    // What isn't referred to, as `ScalabilityStructure` says, isn't looked at either.
    let prediction =
      switch structure.mode.prediction {
      case .full: 0
      case .none: 1
      case .keyOnly: 2
      }
    try set(VP9E_SET_SVC_INTER_LAYER_PRED, prediction, "set how its layers depend on each other")

    // A picture is dropped with all its layers or not at all, so that ours and the library's patterns agree.
    var dropping = vpx_svc_frame_drop_t()
    let threshold = Int32(configuration.rc_dropframe_thresh)
    withElements(&dropping.framedrop_thresh) {
      for layer in 0..<structure.mode.spatialLayers { $0[layer] = threshold }
    }
    dropping.framedrop_mode = FULL_SUPERFRAME_DROP
    dropping.max_consec_drop = .max
    try set(VP9E_SET_SVC_FRAME_DROP_LAYER, &dropping, "set how its layers are dropped")

    // The pointer stays valid: `deinit` destroys the library's encoder first, and it calls only while encoding.
    var callback = vpx_codec_priv_output_cx_pkt_cb_pair_t(
      output_cx_pkt: { packet, owner in
        guard let packet, let owner else { return }
        Unmanaged<VP9Encoder>.fromOpaque(owner).takeUnretainedValue().collect(packet.pointee)
      }, user_priv: Unmanaged.passUnretained(self).toOpaque())
    try set(VP9E_REGISTER_CX_CALLBACK, &callback, "hand out its layers")
  }

  func applyRates() throws(CodecError) {
    fillRates()
    let result = vpx_codec_enc_config_set(context, &configuration)
    guard result == VPX_CODEC_OK else { throw libraryError("change its rates", result, context) }
    try setKeyFrameLimit()
    ratesChanged = false
  }

  private func fillRates() {
    var bits = settings.targetBitsPerSecond
    if settings.maximumBitsPerSecond > 0 { bits = min(bits, settings.maximumBitsPerSecond) }
    let kilobits = min(max(bits / 1_000, 1), 2_000_000)
    let temporalLayers = structure.mode.temporalLayers
    configuration.rc_target_bitrate = UInt32(kilobits)
    configuration.ss_number_layers = UInt32(structure.mode.spatialLayers)
    configuration.ts_number_layers = UInt32(temporalLayers)
    let temporal = structure.cumulativeTemporalShares
    let decimators = structure.rateDecimators
    withElements(&configuration.ts_rate_decimator) {
      for layer in 0..<temporalLayers { $0[layer] = Int32(decimators[layer]) }
    }
    withElements(&configuration.ts_target_bitrate) {
      for layer in 0..<temporalLayers {
        $0[layer] = Int32(max(1, Double(kilobits) * temporal[layer]))
      }
    }
    guard isLayered else { return }
    for (layer, share) in structure.spatialShares.enumerated() {
      let rate = Double(kilobits) * share
      withElements(&configuration.ss_target_bitrate) { $0[layer] = Int32(max(1, rate)) }
      withElements(&configuration.layer_target_bitrate) { rates in
        for index in 0..<temporalLayers {
          rates[layer * temporalLayers + index] = Int32(max(1, rate * temporal[index]))
        }
      }
    }
    configuration.temporal_layering_mode = Int32(VP9E_TEMPORAL_LAYERING_MODE_BYPASS.rawValue)
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

  /// The library's speed, 5 to 9.
  ///
  /// Measured on noisy and zooming patterns at 2 Mbit/s (one thread, frames a second of processor time at 720p): 5 makes
  /// 73 to 80, 7 makes 130 to 149, 8 makes 150 to 167, 9 makes 204 to 214; luma PSNR differs by 0.3 dB at most. At 540p,
  /// 5 makes 132 and gains 0.2 dB over 8.
  static func speed(_ width: Int, _ height: Int) -> Int {
    switch width &* height {
    case ...(640 * 360): 5
    case ...(1280 * 720): 8
    default: 9
    }
  }
}
