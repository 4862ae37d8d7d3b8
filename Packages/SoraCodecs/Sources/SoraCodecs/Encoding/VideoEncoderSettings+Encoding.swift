import SoraMedia

extension VideoEncoderSettings {
  /// Takes over what `VideoEncoder.setRates` was given, clamped; returns whether anything is different now.
  package mutating func takeRates(targetBitsPerSecond: Int, framesPerSecond: Double) -> Bool {
    let rate = framesPerSecond.isFinite ? min(max(framesPerSecond, 1), 240) : 30
    let target = max(0, targetBitsPerSecond)
    guard target != self.targetBitsPerSecond || rate != self.framesPerSecond else { return false }
    self.targetBitsPerSecond = target
    self.framesPerSecond = rate
    return true
  }

  /// Whether a stream of these settings says the right thing of a frame's colours. What a frame doesn't state, a stream may have stated
  /// before: limited BT.601.
  func describeColors(of frame: RawVideoFrame) -> Bool {
    guard let stated = frame.statedColorSpace else { return colorSpace ?? .bt601 == .bt601 }
    return colorSpace == stated
  }

  /// Throws `CodecError.invalidSetting` for the first value that no codec could take, and for layers and depths other than these.
  package func validate(modes: [ScalabilityMode], has10Bits: Bool) throws(CodecError) {
    try validate()
    guard bitDepth == 8 || has10Bits else {
      throw .invalidSetting(name: "bitDepth", value: "\(bitDepth)", allowed: "8")
    }
    guard modes.contains(scalabilityMode) else {
      throw .invalidSetting(
        name: "scalabilityMode", value: scalabilityMode.description,
        allowed: modes.map(\.description).joined(separator: ", "))
    }
  }

  /// `threadCount` for encoders whose threads share a frame as slices, or wait for each other by spinning: up to 720p one
  /// thread is enough and costs the machine least.
  package func frugalThreadCount(width: Int, height: Int) -> Int {
    threads == 0 && width &* height <= 1_280 * 720
      ? 1 : threadCount(width: width, height: height)
  }

  /// Tile columns of VP9 and AV1, as the power of two that their libraries take. A tile is 256 columns wide at least; more
  /// tiles than threads only cost bits.
  package func tileColumns(width: Int, threads: Int) -> Int {
    var tiles = 0
    while 1 << tiles < threads, width >= 256 << (tiles + 1) { tiles += 1 }
    return tiles
  }

  /// The coarsest quantizer of H.264 and H.265. Where frames may be dropped, frames aren't made unrecognizable instead:
  /// rather blur than stutter for motion, the other way round for details.
  package var coarsestQuantizer: Int {
    guard allowsFrameDropping else { return 51 }
    return contentHint == .motion ? 46 : 40
  }

  /// The presets of x264 and x265, fastest first; `speed` is an index into these, the nearest where
  /// it is none.
  package static let presetNames = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
    "placebo",
  ]

  /// The name of the preset that `speed` asks for; `usual` where it asks for none.
  package func presetName(usual: Int) -> String {
    Self.presetNames[speed.map { min(max($0, 0), 9) } ?? usual]
  }
}
