import CAOM
import SoraCodecs
import SoraMedia

extension AV1EncoderAdapter {
  func configure(_ settings: VideoEncoderSettings, threads: Int) {
    unsafe configuration.g_w = UInt32(size.width)
    unsafe configuration.g_h = UInt32(size.height)
    // Main has 8 and 10 bits.
    unsafe configuration.g_profile = 0
    unsafe configuration.g_bit_depth = settings.bitDepth == 10 ? AOM_BITS_10 : AOM_BITS_8
    unsafe configuration.g_input_bit_depth = UInt32(settings.bitDepth)
    unsafe configuration.g_timebase = aom_rational_t(num: 1, den: 90_000)
    unsafe configuration.g_threads = UInt32(threads)
    unsafe configuration.g_pass = AOM_RC_ONE_PASS
    unsafe configuration.g_lag_in_frames = 0
    // Layers that may be left out are ruled by their references; AV1 ties the probabilities to these.
    unsafe configuration.g_error_resilient = 0
    unsafe configuration.rc_end_usage = AOM_CBR
    unsafe configuration.rc_dropframe_thresh = settings.allowsFrameDropping ? 30 : 0
    unsafe configuration.rc_min_quantizer = settings.contentHint == .text ? 8 : 2
    unsafe configuration.rc_max_quantizer = 56
    unsafe configuration.rc_undershoot_pct = 50
    unsafe configuration.rc_overshoot_pct = 50
    // Milliseconds at the target rate: a call can't wait for a bucket of several seconds to empty.
    unsafe configuration.rc_buf_initial_sz = 500
    unsafe configuration.rc_buf_optimal_sz = 600
    unsafe configuration.rc_buf_sz = 1_000
    unsafe configuration.kf_mode = AOM_KF_DISABLED
    unsafe configuration.kf_max_dist = 99_999
  }

  func setTools(_ settings: VideoEncoderSettings, threads: Int) throws(CodecError) {
    let isText = settings.contentHint == .text
    let speed = settings.speed ?? Self.speed(size.width, size.height)
    try set(AOME_SET_CPUUSED, speed, "set its speed")
    try set(AV1E_SET_AQ_MODE, 3, "set adaptive quantization")
    try set(AV1E_SET_ROW_MT, threads > 1 ? 1 : 0, "let threads share rows")
    try set(
      AV1E_SET_TILE_COLUMNS, settings.tileColumns(width: size.width, threads: threads),
      "set its tile columns")
    // With spatial layers, libaom 3.6 reads outside of its reference frames in this mode, and crashes; with 10 bits it always crashes, its
    // own tool as well.
    let looksForText = isText && structure.mode.spatialLayers == 1 && settings.bitDepth == 8
    let content = looksForText ? AOM_CONTENT_SCREEN : AOM_CONTENT_DEFAULT
    try set(AV1E_SET_TUNE_CONTENT, Int(content.rawValue), "set its content mode")
    try set(AV1E_SET_ENABLE_PALETTE, isText && settings.bitDepth == 8 ? 1 : 0, "set its palettes")
    try set(AV1E_SET_ENABLE_CDEF, 1, "set its directional filter")
    // Costs of symbols are counted anew rarely, and tools that real-time search can't pay for are off.
    for control in [
      AV1E_SET_COEFF_COST_UPD_FREQ, AV1E_SET_MODE_COST_UPD_FREQ, AV1E_SET_MV_COST_UPD_FREQ,
      AV1E_SET_DV_COST_UPD_FREQ,
    ] { try set(control, 3, "set how often it counts costs") }
    for control in [
      AV1E_SET_ENABLE_TPL_MODEL, AV1E_SET_DELTAQ_MODE, AV1E_SET_ENABLE_ORDER_HINT,
      AV1E_SET_ENABLE_OBMC, AV1E_SET_ENABLE_WARPED_MOTION, AV1E_SET_ENABLE_GLOBAL_MOTION,
      AV1E_SET_ENABLE_REF_FRAME_MVS, AV1E_SET_ENABLE_CFL_INTRA, AV1E_SET_ENABLE_SMOOTH_INTRA,
      AV1E_SET_ENABLE_ANGLE_DELTA, AV1E_SET_ENABLE_FILTER_INTRA, AV1E_SET_ENABLE_DIST_WTD_COMP,
      AV1E_SET_ENABLE_DIFF_WTD_COMP, AV1E_SET_ENABLE_DUAL_FILTER, AV1E_SET_ENABLE_INTERINTRA_COMP,
      AV1E_SET_ENABLE_INTERINTRA_WEDGE, AV1E_SET_ENABLE_INTRA_EDGE_FILTER,
      AV1E_SET_ENABLE_INTRABC, AV1E_SET_ENABLE_MASKED_COMP, AV1E_SET_ENABLE_PAETH_INTRA,
      AV1E_SET_ENABLE_QM, AV1E_SET_ENABLE_RECT_PARTITIONS, AV1E_SET_ENABLE_RESTORATION,
      AV1E_SET_ENABLE_SMOOTH_INTERINTRA, AV1E_SET_ENABLE_TX64, AV1E_SET_NOISE_SENSITIVITY,
    ] { try set(control, 0, "turn off a tool") }
    try set(AV1E_SET_MAX_REFERENCE_FRAMES, 3, "limit its references")
    try set(AV1E_SET_INTRA_DEFAULT_TX_ONLY, 1, "limit its transforms")
    try set(AV1E_SET_DISABLE_TRELLIS_QUANT, 1, "turn off trellis quantization")
    if let space = settings.colorSpace { try setColors(space) }
  }

  /// AV1 counts as H.273 does (AV1 bitstream specification §6.4.2).
  private func setColors(_ space: VideoColorSpace) throws(CodecError) {
    let points = space.codePoints
    try set(AV1E_SET_COLOR_PRIMARIES, points.primaries, "set its primaries")
    try set(AV1E_SET_TRANSFER_CHARACTERISTICS, points.transfer, "set its transfer function")
    try set(AV1E_SET_MATRIX_COEFFICIENTS, points.matrixCoefficients, "set its matrix")
    try set(AV1E_SET_COLOR_RANGE, space.isFullRange ? 1 : 0, "set its range of samples")
  }

  func setLayerRates(_ rates: EncoderRates) throws(CodecError) {
    var parameters = aom_svc_params_t()
    let temporalLayers = structure.mode.temporalLayers
    let count = structure.mode.spatialLayers * temporalLayers
    parameters.number_spatial_layers = Int32(structure.mode.spatialLayers)
    parameters.number_temporal_layers = Int32(temporalLayers)
    let minimum = unsafe Int32(configuration.rc_min_quantizer)
    let maximum = unsafe Int32(configuration.rc_max_quantizer)
    withElements(&parameters.min_quantizers, of: Int32.self) {
      for layer in 0..<count { $0[layer] = minimum }
    }
    withElements(&parameters.max_quantizers, of: Int32.self) {
      for layer in 0..<count { $0[layer] = maximum }
    }
    let kilobits = Double(rates.kilobitsPerSecond)
    let temporal = structure.cumulativeTemporalShares
    let decimators = structure.rateDecimators
    withElements(&parameters.framerate_factor, of: Int32.self) {
      for layer in 0..<temporalLayers { $0[layer] = Int32(decimators[layer]) }
    }
    for (layer, share) in structure.spatialShares.enumerated() {
      let scale = Int32(structure.scale(layer))
      withElements(&parameters.scaling_factor_num, of: Int32.self) { $0[layer] = 1 }
      withElements(&parameters.scaling_factor_den, of: Int32.self) { $0[layer] = scale }
      withElements(&parameters.layer_target_bitrate, of: Int32.self) { rates in
        for index in 0..<temporalLayers {
          rates[layer * temporalLayers + index] = Int32(
            max(1, kilobits * share * temporal[index]))
        }
      }
    }
    try set(AV1E_SET_SVC_PARAMS, &parameters, "describe its layers")
  }

  func limitKeyFrames(_ rates: EncoderRates) throws(CodecError) {
    let percent = unsafe rates.keyFramePercent(ofBuffer: Int(configuration.rc_buf_optimal_sz))
    try set(AOME_SET_MAX_INTRA_BITRATE_PCT, percent, "bound its key frames")
  }

  /// The library's speed, up to 10.
  ///
  /// Measured on noisy and zooming patterns (one thread, frames per second of processor time), 720p at 2 Mbit/s: 7 makes 87
  /// to 95, 8 makes 104 to 117, 9 makes 110 to 132, 10 makes 105 to 152 and loses 0.3 dB to 7. 540p at 1.2 Mbit/s: 8
  /// makes 177 to 190, 9 makes 199 to 211, 10 makes 216 to 235. The tools that `setTools` turns off cost half of the
  /// speed: `aomenc --rt --cpu-used=10` with its defaults makes 57 at 720p.
  static func speed(_ width: Int, _ height: Int) -> Int {
    switch width &* height {
    case ...(640 * 360): 8
    case ...(960 * 540): 9
    default: 10
    }
  }
}
