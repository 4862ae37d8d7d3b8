public import SoraMedia
import SoraWire

/// An ICE agent for one component: finds a way to the peer, keeps proving that the peer still wants traffic, and says when it's gone.
///
/// It covers RFC 8445 (full and lite), 8838 (trickle), 7675 (consent) and restarts, over UDP. It opens no socket and reads no clock:
/// give it STUN datagrams with `receive`, time with `poll`, and after each call take what `nextEvent` and `nextTransmit` have, and set a
/// timer for `nextDeadline`. An instance is confined to its owner's thread.
public final class ICEAgent {
  /// What an agent is and how patient it is. The defaults suit a WebRTC peer.
  public struct Configuration: Sendable {
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
    /// Remote candidates kept, peer-reflexive ones and unresolved names included.
    public var maxRemoteCandidates = 64
    /// Candidate pairs kept.
    public var maxPairs = 256

    public init(isControlling: Bool, isLite: Bool = false) {
      self.isControlling = isControlling
      self.isLite = isLite
    }
  }

  /// Whether more local candidates may come, as from servers that haven't answered yet. Meanwhile the want of pairs is no reason to fail.
  public var isGathering = false
  /// As given to the initializer.
  public let configuration: Configuration
  /// Our credentials; new ones after `restart`.
  public internal(set) var localParameters: ICEParameters
  /// The peer's, once set.
  public internal(set) var remoteParameters: ICEParameters?
  /// Whether this agent nominates now; a role conflict may have turned it round. Set it before `start` where the other
  /// side's description decides: a full agent controls a lite one, whoever offered (RFC 8445 §6.1.1).
  public var isControlling: Bool
  public internal(set) var state = ICEConnectionState.new
  /// The pair to send on, once one works. Across a restart the old one stays until a new one works.
  public internal(set) var selectedPair: ICEPair?
  /// Counters since the agent was made.
  public internal(set) var statistics = ICEStatistics()
  /// Another number whenever pairs came, went, or took each other's place.
  public private(set) var pairsVersion = 0

  let random: RandomSource
  var tieBreaker: UInt64
  var locals: [LocalCandidate] = []
  var remotes: [RemoteCandidate] = []
  var pairs: [CandidatePair] = [] { didSet { pairsVersion &+= 1 } }
  var triggered: [CandidatePair] = []
  var transactions: [Transaction] = []
  var selected: CandidatePair? {
    didSet {
      pairsVersion &+= 1
      if selected !== oldValue { statistics.selectedCandidatePairChanges += 1 }
    }
  }
  // Whether `selected` belongs to the present generation, not to the one before a restart.
  var selectedIsCurrent = false
  // Whether the base of `selected` has been taken away.
  var selectedIsGone = false
  var unresolved: [ICECandidate] = []
  var remoteEnded = false
  var nextFoundation = 1
  var pairsMade = 0
  // The generation before a restart, whose checks are still answered.
  var previous: Credentials?
  // When they are answered no more.
  var forgetPreviousAt: Instant?
  // What a restart replaced, until the peer has agreed to it.
  var replaced: Generation?

  // The latest time any call brought. Calls without a time use it.
  var now = Instant.zero
  var startedAt: Instant?
  // When checks could begin: `start`, or the peer's parameters where they came later.
  var readyAt: Instant?
  var nextCheckAt = Instant.zero
  var checksSent = 0
  var nominateAt: Instant?
  var nominating: CandidatePair?
  var lastHeard = Instant.zero
  var nextConsentAt: Instant?
  // Whether our relay may be what is silent, and until when it last was so.
  var isRelayInDoubt = false
  var relayDoubtedUntil: Instant?
  // Consent checks since the peer was heard.
  var consentChecksUnanswered = 0
  var errorResponseAllowedAt = Instant(nanoseconds: .min)

  var transmits: [ICETransmit] = []
  var transmitHead = 0
  var events: [ICEEvent] = []
  var eventHead = 0

  /// Makes an agent with fresh credentials.
  public init(configuration: Configuration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    isControlling = configuration.isControlling && !configuration.isLite
    tieBreaker = random.next()
    localParameters = ICEAgent.makeParameters(random, isLite: configuration.isLite)
  }

  // RFC 8839 §5.4: at least 24 and 128 random bits; a character has 6.
  static func makeParameters(_ random: RandomSource, isLite: Bool) -> ICEParameters {
    let ufrag = random.iceString(8)
    return ICEParameters(unchecked: ufrag, password: random.iceString(24), isLite: isLite)
  }

  /// Our candidates, in the order they were added.
  public var localCandidates: [ICECandidate] { locals.map(\.candidate) }

  /// Whether nothing can come that would change the choice of a pair: neither side has more candidates, and no pair is left to check.
  public var isSearchComplete: Bool {
    !isGathering && remoteEnded
      && !pairs.contains { $0.state == .waiting || $0.state == .inProgress }
  }

  /// How many candidates of the peer are known, peer-reflexive ones and names not yet resolved included.
  public var remoteCandidateCount: Int { remotes.count + unresolved.count }

  /// A snapshot of every pair, for statistics.
  public var pairStatistics: [ICEPairStatistics] {
    var all = pairs
    if let selected, !all.contains(where: { $0 === selected }) { all.append(selected) }
    return all.map { pair in
      ICEPairStatistics(
        number: pair.number, local: localCandidate(of: pair), remote: pair.remote.candidate,
        state: pair.state,
        isNominated: pair.isNominated, isSelected: pair === selected, priority: pair.priority,
        requestsSent: pair.requestsSent, requestsReceived: pair.requestsReceived,
        responsesSent: pair.responsesSent, responsesReceived: pair.responsesReceived,
        consentRequestsSent: pair.consentRequestsSent,
        currentRoundTripTime: pair.currentRoundTripTime,
        totalRoundTripTime: pair.totalRoundTripTime, mappedAddress: pair.mappedAddress,
        traffic: pair.meter.traffic)
    }
  }

  /// The next datagram to send; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> ICETransmit? {
    guard transmitHead < transmits.count else {
      if transmitHead > 0 {
        transmits.removeAll(keepingCapacity: true)
        transmitHead = 0
      }
      return nil
    }
    transmitHead += 1
    return transmits[transmitHead - 1]
  }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> ICEEvent? {
    guard eventHead < events.count else {
      if eventHead > 0 {
        events.removeAll(keepingCapacity: true)
        eventHead = 0
      }
      return nil
    }
    eventHead += 1
    return events[eventHead - 1]
  }

  /// Begins checking, or answering for a lite agent; checks go out once the peer's parameters are there too.
  public func start(at now: Instant) {
    advance(to: now)
    guard state == .new else { return }
    startedAt = self.now
    change(to: .checking)
    becomeReady()
  }

  /// Ends the agent: nothing is sent or answered any more.
  public func close(at now: Instant) {
    advance(to: now)
    guard state != .closed else { return }
    stop()
    replaced = nil
    change(to: .closed)
  }

  /// Ends the search as failed, for an owner that knows that no way will come. `restart` leads out of it.
  public func giveUp(at now: Instant) {
    advance(to: now)
    guard isActive else { return }
    stop()
    change(to: .failed)
  }

  // MARK: Shared by the extensions

  func advance(to time: Instant) { now = max(now, time) }

  func change(to new: ICEConnectionState) {
    guard state != new else { return }
    state = new
    events.append(.stateChanged(new))
  }

  var isActive: Bool { state != .failed && state != .closed }

  func send(_ bytes: [UInt8], from local: TransportAddress, to remote: TransportAddress) {
    guard transmits.count - transmitHead < 512 else {
      statistics.drop(.transmitQueueFull)
      return
    }
    transmits.append(ICETransmit(local: local, remote: remote, bytes: bytes))
  }

  /// Forgets everything that would act later.
  func stop() {
    transactions = []
    triggered = []
    nominateAt = nil
    nominating = nil
    nextConsentAt = nil
    selected = nil
    selectedIsCurrent = false
    selectedIsGone = false
    selectedPair = nil
  }

  func becomeReady() {
    guard startedAt != nil, remoteParameters != nil, readyAt == nil else { return }
    readyAt = now
    nextCheckAt = now
    if configuration.isLite { selectBestHeard() }
  }
}
