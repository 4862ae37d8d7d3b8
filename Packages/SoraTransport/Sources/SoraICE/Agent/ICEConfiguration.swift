/// What an `ICEAgent` is and how patient it is. The defaults suit a WebRTC peer.
public struct ICEConfiguration: Sendable {
  /// Whether this side nominates. The side that makes the first offer does (RFC 8445 §6.1.1); a conflict is resolved by the checks.
  public var isControlling: Bool
  /// Whether this side only answers checks: for servers that peers can reach directly (RFC 8445 §2.5). Never controlling.
  public var isLite: Bool
  /// Silence after which consent is lost. RFC 7675 §5.1 lets it last for 30 s; a peer that vanished is to be noticed sooner here.
  public var consentTimeout: Duration = .seconds(5)
  /// The most that a relay which may be what is silent lengthens it to: ours, of which `noteRelay` tells, or the peer's, which the
  /// peer alone can ask.
  ///
  /// A TURN server that restarts is away for longer than `consentTimeout`, and its allocations are made anew within a second of its
  /// return; no peer is told of it. So both ends wait for as long as RFC 7675 §5.1 allows, in the state `.disconnected`. The price:
  /// a peer that vanished behind a relay of its own is reported that much later.
  public var relayedConsentTimeout: Duration = .seconds(30)
  /// Silence after which the state becomes `.disconnected`.
  public var disconnectedTimeout: Duration = .milliseconds(2500)
  /// The time between consent checks, randomised by ±20 %. A check without an answer is followed by quicker ones.
  ///
  /// RFC 7675 §5.1 has 5 s.
  public var consentInterval: Duration = .seconds(1)
  /// The time between new connectivity checks: Ta of RFC 8445 §14.2.
  public var checkInterval: Duration = .milliseconds(50)
  /// The time between the first `fastChecks` checks, the least that §14.2 allows.
  public var fastCheckInterval: Duration = .milliseconds(5)
  /// How many checks go out at `fastCheckInterval`: enough for the pairs of an ordinary host.
  public var fastChecks = 20
  /// The first wait for a response; doubles with each retransmission up to `maximumRetransmissionTimeout`.
  public var retransmissionTimeout: Duration = .milliseconds(250)
  public var maximumRetransmissionTimeout: Duration = .seconds(1)
  /// Transmissions of one check before its pair fails: with the default timeouts that is after 9.75 s.
  public var maximumTransmissions = 11
  /// How long a controlling agent that has a valid pair waits for a better one before it nominates.
  public var nominationDelay: Duration = .milliseconds(100)
  /// Time from `start` (or from the peer's parameters, where they come later) until an agent without a working pair fails.
  public var connectTimeout: Duration = .seconds(15)
  /// Time from `start` before which an agent doesn't fail even with nothing left to check: the peer's checks, or a resolved host
  /// name, may still bring a pair (RFC 8863).
  public var patience: Duration = .seconds(5)
  /// Whether a lite agent that has heard nothing for two seconds asks the selected peer for a sign of life.
  ///
  /// Peers may check consent only every 6 s (RFC 7675 §5.1), so an idle one couldn't be told from one that vanished in time otherwise.
  public var liteAsksWhenSilent = true
  /// Remote candidates kept, peer-reflexive ones and unresolved names included. When there are as many, a check from a new
  /// address takes the place of the peer-reflexive one that no check came from for longest; those in use and those signalled
  /// stay.
  public var maxRemoteCandidates = 64
  /// Candidate pairs kept. When there are as many, a check from a new address takes the place of the least that isn't in use,
  /// or of those of the peer-reflexive candidate that no check came from for longest.
  public var maxPairs = 256

  public init(isControlling: Bool, isLite: Bool = false) {
    self.isControlling = isControlling
    self.isLite = isLite
  }
}
