import SoraMedia

/// Key frames that the receiver of a source asks for, against what the encoder gives.
///
/// A request is passed on once. Those that come until the key frame has left, and those that were on their way by then, ask for the
/// same one. An encoder that gives none is asked again after a while, as long as the receiver asks.
struct KeyFrameDemand {
  /// The least time between two demands.
  private static let interval = Duration.milliseconds(300)
  /// How long a key frame is waited for: four times what the last one took, within these.
  private static let patience = Duration.seconds(1)...Duration.seconds(4)

  private enum State {
    case idle
    /// Asked for; the owner is told at this instant.
    case due(Instant)
    /// The owner was told at this instant and hasn't given one yet.
    case told(Instant)
  }

  private var state = State.idle
  private var lastTold: Instant?
  private var lastKeyFrame: Instant?
  /// From the demand to the key frame.
  private var answerTime = Duration.zero

  /// The receiver asks.
  mutating func ask(roundTrip: Duration?, at now: Instant) {
    switch state {
    case .due: return
    case .told(let told):
      let patience = min(max(answerTime * 4, Self.patience.lowerBound), Self.patience.upperBound)
      guard now - told >= patience else { return }
    case .idle:
      // It can't have seen the key frame when it asked.
      if let lastKeyFrame, let roundTrip, now - lastKeyFrame < roundTrip { return }
    }
    state = .due(lastTold.map { max(now, $0 + Self.interval) } ?? now)
  }

  /// A key frame has been cut into packets: whatever was asked for before is this one.
  mutating func keyFrameLeaves(at now: Instant) {
    lastKeyFrame = now
    if case .told(let told) = state { answerTime = now - told }
    state = .idle
  }

  /// When the owner is to be told; nil while there is nothing to tell.
  var deadline: Instant? {
    if case .due(let due) = state { due } else { nil }
  }

  /// Whether to tell the owner now; it counts as told then.
  mutating func take(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    state = .told(now)
    lastTold = now
    return true
  }
}
