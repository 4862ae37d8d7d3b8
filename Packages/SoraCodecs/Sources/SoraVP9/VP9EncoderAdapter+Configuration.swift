import CSoraVPX
import SoraCodecs
import SoraMedia
import SoraVPX

extension VP9EncoderAdapter {
  func setTools(_ settings: VideoEncoderSettings, threads: Int) throws(CodecError) {
    // Cyclic refresh: a few blocks of each frame are coded better, so that no periodic key frame is needed.
    try encoder.set(VP9E_SET_AQ_MODE, 3, "set adaptive quantization")
    try encoder.set(VP9E_SET_ROW_MT, threads > 1 ? 1 : 0, "let threads share rows")
    try encoder.set(
      VP9E_SET_TILE_COLUMNS, settings.tileColumns(width: size.width, threads: threads),
      "set its tile columns")
    try encoder.set(VP9E_SET_FRAME_PARALLEL_DECODING, 0, "let frames adapt their probabilities")
    try encoder.set(VP9E_SET_NOISE_SENSITIVITY, 0, "set its noise sensitivity")
    let content = settings.contentHint == .text ? VP9E_CONTENT_SCREEN : VP9E_CONTENT_DEFAULT
    try encoder.set(VP9E_SET_TUNE_CONTENT, Int(content.rawValue), "set its content mode")
    if let space = settings.colorSpace {
      let matrix = space.matrix == .bt709 ? VPX_CS_BT_709 : VPX_CS_BT_601
      let range = space.isFullRange ? VPX_CR_FULL_RANGE : VPX_CR_STUDIO_RANGE
      try encoder.set(VP9E_SET_COLOR_SPACE, Int(matrix.rawValue), "set its colour space")
      try encoder.set(VP9E_SET_COLOR_RANGE, Int(range.rawValue), "set its range of samples")
    }
  }

  func fill(_ rates: EncoderRates) {
    let kilobits = rates.kilobitsPerSecond
    let temporalLayers = structure.mode.temporalLayers
    unsafe encoder.configuration.rc_target_bitrate = UInt32(kilobits)
    unsafe encoder.configuration.ss_number_layers = UInt32(structure.mode.spatialLayers)
    unsafe encoder.configuration.ts_number_layers = UInt32(temporalLayers)
    let temporal = structure.cumulativeTemporalShares
    let decimators = structure.rateDecimators
    unsafe withElements(&encoder.configuration.ts_rate_decimator, of: UInt32.self) {
      for layer in 0..<temporalLayers { $0[layer] = UInt32(decimators[layer]) }
    }
    unsafe withElements(&encoder.configuration.ts_target_bitrate, of: UInt32.self) {
      for layer in 0..<temporalLayers {
        $0[layer] = UInt32(max(1, Double(kilobits) * temporal[layer]))
      }
    }
    guard structure.mode.isLayered else { return }
    for (layer, share) in structure.spatialShares.enumerated() {
      let rate = Double(kilobits) * share
      unsafe withElements(&encoder.configuration.ss_target_bitrate, of: UInt32.self) {
        $0[layer] = UInt32(max(1, rate))
      }
      unsafe withElements(&encoder.configuration.layer_target_bitrate, of: Int32.self) { rates in
        for index in 0..<temporalLayers {
          rates[layer * temporalLayers + index] = Int32(max(1, rate * temporal[index]))
        }
      }
    }
    unsafe encoder.configuration.temporal_layering_mode = Int32(
      VP9E_TEMPORAL_LAYERING_MODE_BYPASS.rawValue)
  }

  /// The library's speed, 5 to 9.
  ///
  /// Measured on noisy and zooming patterns at 2 Mbit/s (one thread, frames per second of processor time at 720p): 5 makes
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
