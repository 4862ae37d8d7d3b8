import SoraMedia

/// What a driver does about rates and time: it knows when a library is to be told others, which frames are dropped, and
/// for libraries without a rate control of use each frame's quantizer.
struct EncoderRateControl {
  private let traits: EncoderTraits
  private var clock = MediaClock()
  private var dropper = FrameDropper(bound: 0.6)
  private var quantizer = QuantizerControl()
  /// Bits per second that the negotiated format allows.
  private var limit = Int.max
  /// What the library works at.
  private var applied = EncoderRates(bitsPerSecond: 0, framesPerSecond: 0)

  init(_ traits: EncoderTraits) { self.traits = traits }

  /// Media time of the present frame in units of 1/90,000 s.
  var ticks: Int64 { clock.ticks }

  /// What the library of a plan starts with.
  mutating func start(_ settings: VideoEncoderSettings, limit: Int) -> EncoderRates {
    self.limit = limit
    quantizer.restart()
    applied = rates(settings)
    return applied
  }

  /// Moves on to a frame's time; whether the frame is to be dropped, unless it is a key frame.
  mutating func advance(to timestamp: Instant, _ settings: VideoEncoderSettings) -> Bool {
    let step = clock.advance(to: timestamp, framesPerSecond: settings.framesPerSecond)
    guard traits.rateControl != .library else { return false }
    let seconds = Double(step) / 90_000
    let bits = bitsPerSecond(settings)
    if traits.rateControl == .driver {
      quantizer.advance(seconds: seconds, bitsPerSecond: Double(bits))
    }
    return dropper.shouldDrop(bitsPerSecond: bits, elapsed: seconds)
      && settings.allowsFrameDropping
  }

  /// What the library is to be told before the next frame; nil where it works at the right rates.
  func changes(_ settings: VideoEncoderSettings) -> EncoderRates? {
    guard traits.rateControl != .driver else { return nil }
    let wanted = rates(settings)
    let difference = abs(wanted.framesPerSecond - applied.framesPerSecond)
    // Frames come a little irregularly, which isn't another rate.
    let isNewFrameRate =
      traits.learnsFrameRate ? difference > 0 : difference > applied.framesPerSecond / 6
    return wanted.bitsPerSecond != applied.bitsPerSecond || isNewFrameRate ? wanted : nil
  }

  /// Notes what the library was told.
  mutating func told(_ rates: EncoderRates) { applied = rates }

  /// The quantizer of the next frame; 0 where the library chooses.
  mutating func quantizer(
    for buffer: PixelBuffer, isKeyFrame: Bool, _ settings: VideoEncoderSettings
  ) -> Int {
    guard traits.rateControl == .driver else { return 0 }
    return quantizer.quantizer(
      buffer.plane(0), isKeyFrame: isKeyFrame, bitsPerSecond: Double(bitsPerSecond(settings)),
      framesPerSecond: clock.framesPerSecond ?? settings.framesPerSecond,
      coarsest: settings.coarsestQuantizer)
  }

  /// Notes a frame that was made.
  mutating func sent(bytes: Int, isKeyFrame: Bool) {
    guard traits.rateControl != .library else { return }
    dropper.sent(bytes: bytes)
    if traits.rateControl == .driver { quantizer.encoded(bytes: bytes, isKeyFrame: isKeyFrame) }
  }

  private func rates(_ settings: VideoEncoderSettings) -> EncoderRates {
    let come = traits.learnsFrameRate ? nil : clock.framesPerSecond
    return EncoderRates(
      bitsPerSecond: bitsPerSecond(settings), framesPerSecond: come ?? settings.framesPerSecond)
  }

  private func bitsPerSecond(_ settings: VideoEncoderSettings) -> Int {
    var bits = min(settings.targetBitsPerSecond, limit)
    if settings.maximumBitsPerSecond > 0 { bits = min(bits, settings.maximumBitsPerSecond) }
    return max(bits, 1_000)
  }
}
