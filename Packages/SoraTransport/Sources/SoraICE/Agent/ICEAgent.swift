public import SoraMedia
import SoraWire

/// An ICE agent for one component: finds a way to the peer, keeps proving that the peer still wants traffic, and says when it's gone.
///
/// It covers RFC 8445 (full and lite), 8838 (trickle), 7675 (consent) and restarts, over UDP. It opens no socket and reads no clock:
/// give it STUN datagrams with `receive`, time with `poll`, and after each call take what `nextEvent` and `nextTransmit` have, and set a
/// timer for `nextDeadline`. An instance is confined to its owner's thread.
public final class ICEAgent {
  public typealias Configuration = ICEConfiguration

  /// As given to the initializer.
  public let configuration: Configuration
  public internal(set) var state = ICEConnectionState.new
  /// Counters since the agent was made.
  public internal(set) var statistics = ICEStatistics()

  let random: RandomSource
  var role: ICERole
  var locals = ICELocalCandidates()
  var generation: ICEGeneration
  // What a restart replaced, until the peer has agreed to it.
  var replaced: Replaced?
  var transactions: ICETransactions
  var selection = ICESelection()
  var nomination = ICENomination.none
  var consent: ICEConsent
  var output = ICEOutput()
  // The latest time any call brought. Calls without a time use it.
  var now = Instant.zero

  /// Makes an agent with fresh credentials.
  public init(configuration: Configuration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    transactions = ICETransactions(configuration)
    consent = ICEConsent(configuration)
    role = ICERole(configuration, random)
    generation = ICEGeneration(
      ICEAgent.makeParameters(random, isLite: configuration.isLite), configuration)
  }

  // RFC 8839 §5.4: at least 24 and 128 random bits; a character has 6.
  static func makeParameters(_ random: RandomSource, isLite: Bool) -> ICEParameters {
    let ufrag = random.iceString(8)
    return ICEParameters(unchecked: ufrag, password: random.iceString(24), isLite: isLite)
  }

  /// Our credentials; new ones after `restart`.
  public var localParameters: ICEParameters { generation.credentials.local }

  /// The peer's, once set.
  public var remoteParameters: ICEParameters? { generation.credentials.remote }

  /// Whether this agent nominates now; a role conflict may have turned it round. Set it before `start` where the other
  /// side's description decides: a full agent controls a lite one, whoever offered (RFC 8445 §6.1.1).
  public var isControlling: Bool {
    get { role.isControlling }
    set { role.isControlling = newValue }
  }

  /// Whether more local candidates may come, as from servers that haven't answered yet. Meanwhile the want of pairs is no reason to fail.
  public var isGathering: Bool {
    get { locals.isGathering }
    set { locals.isGathering = newValue }
  }

  /// The pair to send on, once one works. Across a restart the old one stays until a new one works.
  public var selectedPair: ICEPair? { selection.published }

  /// Another number whenever pairs came, went, or took each other's place.
  public var pairsVersion: Int { generation.checklist.version &+ selection.changes }

  /// Our candidates, in the order they were added.
  public var localCandidates: [ICECandidate] { locals.all.map(\.candidate) }

  /// The peer's candidates with an address, peer-reflexive ones included.
  public var remoteCandidates: [ICECandidate] { generation.peer.all.map(\.candidate) }

  /// How many candidates of the peer are known, peer-reflexive ones and names not yet resolved included.
  public var remoteCandidateCount: Int { generation.peer.count }

  /// Whether nothing can come that would change the choice of a pair: neither side has more candidates, and no pair is left to check.
  public var isSearchComplete: Bool {
    !locals.isGathering && generation.peer.isComplete && !generation.checklist.isUndecided
  }

  /// The next datagram to send; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> ICETransmit? { output.nextDatagram() }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> ICEEvent? { output.nextEvent() }

  /// Begins checking, or answering for a lite agent; checks go out once the peer's parameters are there too.
  public func start(at now: Instant) {
    advance(to: now)
    guard state == .new else { return }
    generation.wait(since: self.now)
    change(to: .checking)
    beginChecking()
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
    output.tell(.stateChanged(new))
  }

  var isActive: Bool { state != .failed && state != .closed }

  func send(_ bytes: [UInt8], from local: TransportAddress, to remote: TransportAddress) {
    let isTaken = output.send(ICETransmit(local: local, remote: remote, bytes: bytes))
    if !isTaken { statistics.drop(.transmitQueueFull) }
  }

  /// Forgets everything that would act later.
  func stop() {
    transactions.cancelAll()
    generation.checklist.forgetTriggered()
    nomination = .none
    deselect()
  }

  /// There is no pair to send on any more.
  func deselect() {
    selection.clear()
    statistics.selectedCandidatePairChanges = selection.changes
    consent.stopAsking()
  }

  /// Checks go out from now on, if the peer's parameters were all that was missing.
  func beginChecking() {
    if generation.beginChecking(at: now), configuration.isLite { selectBestHeard() }
  }
}
