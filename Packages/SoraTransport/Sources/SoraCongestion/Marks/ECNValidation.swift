public import SoraMedia
public import SoraWire

/// Whether packets may leave marked as ECN-capable. The first ones do; the others once feedback tells that the path carries marks, and
/// none from when it tells that it doesn't: the way of QUIC (RFC 9000 §13.4.2 and appendix A.4), by reports of RFC 8888 §3.1.
public struct ECNValidation: Sendable {
  public enum State: Sendable, Hashable {
    /// Some packets leave marked, to see what becomes of them.
    case testing
    /// They have left, and nothing is known of them yet.
    case waiting
    /// The path carries marks.
    case capable
    /// Nothing is marked any more: the path has lost all that was, has changed it, or marks whatever comes.
    case failed
  }

  /// RFC 9000, appendix A.4.
  private static let trials = 10
  /// Packets until others are marked where nothing was heard of the first: a report may be lost.
  private static let patience = 300
  /// How long nothing may be heard of a marked packet, as long as ICE would need to find another path: this one may drop them by now,
  /// which a new trial shows.
  private static let silence = Duration.seconds(5)

  public private(set) var state: State
  private let wanted: ECNCodepoint
  private var sentCount = 0
  private var lostCount = 0
  private var markedCount = 0
  /// When the first one left since the latest report.
  private var unanswered: Instant?

  /// - Parameter codepoint: what packets leave as where the path takes it: `.ect0`, `.ect1`, or `.notECT` for never.
  public init(of codepoint: ECNCodepoint) {
    wanted = codepoint
    state = Self.first(codepoint)
  }

  private static func first(_ codepoint: ECNCodepoint) -> State {
    codepoint == .ect0 || codepoint == .ect1 ? .testing : .failed
  }

  /// What the next packet leaves as.
  public var codepoint: ECNCodepoint {
    state == .testing || state == .capable ? wanted : .notECT
  }

  /// Whether packets leave as those of L4S, which queues mark early.
  public var isScalable: Bool { state == .capable && wanted == .ect1 }

  /// A packet has left as `codepoint` says.
  public mutating func sent(at now: Instant) {
    if state == .capable {
      let first = unanswered ?? now
      unanswered = first
      if now - first > Self.silence { startOver() }
      return
    }
    guard state != .failed else { return }
    sentCount += 1
    if sentCount == Self.trials { state = .waiting }
    if sentCount == Self.patience {
      sentCount = 0
      state = .testing
    }
  }

  /// Takes what feedback says of a packet that left marked: what it arrived as; nil for one that is lost.
  public mutating func reported(_ arrived: ECNCodepoint?) {
    unanswered = nil
    switch arrived {
    case wanted?: if state != .failed { state = .capable }
    case .congestionExperienced?: markedCount += 1
    case nil: lostCount += 1
    default: state = .failed
    }
    if state == .waiting, lostCount + markedCount >= Self.trials { state = .failed }
  }

  /// Another path may take what this one didn't.
  public mutating func startOver() {
    self = ECNValidation(of: wanted)
  }
}
