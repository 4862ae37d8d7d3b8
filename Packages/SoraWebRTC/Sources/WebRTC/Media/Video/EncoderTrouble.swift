import SoraMedia

/// An encoder's failures in a row: when it is left alone, and whether the app knows.
struct EncoderTrouble {
  /// How long to leave an encoder alone that has failed twice.
  private static let pause = Duration.milliseconds(500)

  private var failures = 0
  private var retryTime: Instant?
  private var isTold = false

  /// Whether it fails again and again; nil after the first time, which says nothing.
  var isFailing: Bool? {
    switch failures {
    case 0: false
    case 1: nil
    default: true
    }
  }

  /// Whether the encoder is to be left alone.
  func isPaused(at now: Instant) -> Bool { retryTime.map { now < $0 } ?? false }

  mutating func succeeded() {
    failures = 0
    retryTime = nil
  }

  /// A broken encoder is made anew with the next frame, but not for every frame of a call.
  mutating func failed(at now: Instant) {
    failures += 1
    retryTime = failures > 1 ? now + Self.pause : nil
  }

  /// Whether the app is to be told of an encoder that fails again and again: true once.
  mutating func takeNews() -> Bool {
    guard failures > 1, !isTold else { return false }
    isTold = true
    return true
  }
}
