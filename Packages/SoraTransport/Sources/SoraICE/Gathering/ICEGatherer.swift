public import SoraMedia
public import SoraWire

/// Learns server-reflexive and relayed addresses from STUN and TURN servers, for an ICE agent (RFC 8445 §5.1.1).
///
/// All servers are asked at once, from every base that can reach them. Sans-I/O: it says which names to resolve, which streams to open and
/// what to send; give it what comes from the servers, and time with `poll`. Confined to its owner.
public final class ICEGatherer {
  public struct Configuration: Sendable {
    public var servers: [ICEServer] = []
    public var policy = ICETransportPolicy.all
    public var retransmission = STUNRetransmission()
    /// Allocations on one TURN server: one a base, up to this.
    public var maximumRelaysPerServer = 4
    /// Binding requests and allocations under way or kept, of all servers.
    public var maximumClients = 48
    /// How often in a row a server is asked for another allocation in the place of one that was lost.
    public var maximumRemakes = 24
    /// The wait after the first of those tries failed, give or take a fifth; each further one is half as long again.
    public var remakeDelay: Duration = .milliseconds(250)
    /// The longest of those waits: a call lives for 30 s without its relay, and the server shall not come back in vain.
    public var maximumRemakeDelay: Duration = .seconds(3)
    /// How long a stream's server may owe an answer to `verify` before another stream is opened beside it.
    public var streamPatience: Duration = .seconds(1)

    public init() {}
  }

  /// A candidate that was found. `relatedAddress` is what `raddr` shall say.
  public struct Found: Hashable, Sendable {
    public let type: ICECandidateType
    public let address: TransportAddress
    public let base: ICEBase
    public let relatedAddress: TransportAddress
    /// The server's address, where it is known (a proxy resolves names itself).
    public let server: IPAddress?
    public let url: ICEServerURL
  }

  /// What happened, in order.
  public enum Event: Hashable, Sendable {
    case found(Found)
    /// Resolve the name and call `resolved`.
    case resolve(name: String)
    /// Open a stream and call `streamOpened` or `streamEnded`.
    case openStream(Int, to: ICEServer)
    case closeStream(Int)
    /// An allocation is gone, and its candidate with it.
    case lost(relay: TransportAddress)
    case failed(ICEServerFailure)
    /// Every server has answered or was given up. Again after a new base was asked for, and after an allocation was made anew.
    case complete
  }

  /// A message to send.
  public enum Transmit: Sendable {
    case datagram(from: TransportAddress, to: TransportAddress, bytes: [UInt8])
    case stream(Int, bytes: [UInt8])
  }

  struct Binding {
    let client: STUNBindingClient
    let base: TransportAddress
    let server: Int
    var isDone = false
  }

  public let configuration: Configuration
  /// What servers did not give, in order; each server once.
  public internal(set) var failures: [ICEServerFailure] = []
  /// Drops that no client of now counts.
  var droppedHere = Dropped()
  let random: RandomSource
  var bases: [TransportAddress] = []
  var bindings: [Binding] = []
  var relays: [ICERelay] = []
  var remakes: [Remake] = []
  /// Names that are being resolved, and what came of those that were.
  var resolving: Set<String> = []
  var names: [String: [IPAddress]] = [:]
  var known: Set<Found> = []
  var permitted: [IPAddress] = []
  var nextStream = 1
  var isStarted = false
  var isClosed = false
  var isComplete = false
  var events: [Event] = []
  var transmits: [Transmit] = []

  public init(configuration: Configuration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
  }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// The next message to send; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> Transmit? { transmits.isEmpty ? nil : transmits.removeFirst() }

  /// Begins to ask the servers from the given sockets.
  public func start(bases: [TransportAddress], at now: Instant) {
    guard !isStarted, !isClosed else { return }
    isStarted = true
    self.bases = bases
    for server in configuration.servers.indices { begin(server, on: bases, at: now) }
    settle(at: now)
  }

  /// A new socket of ours, as after an interface came up: the servers are asked from there too.
  public func addBase(_ base: TransportAddress, at now: Instant) {
    guard isStarted, !isClosed, !bases.contains(base) else { return }
    bases.append(base)
    // What failed for want of a way may succeed now.
    for index in remakes.indices { remakes[index].at = now }
    for server in configuration.servers.indices { begin(server, on: [base], at: now) }
    settle(at: now)
  }

  /// A socket is gone, and with it what was learnt through it.
  public func removeBase(_ base: TransportAddress, at now: Instant) {
    bases.removeAll { $0 == base }
    bindings.removeAll { $0.base == base }
    remakes.removeAll { $0.way?.base == base }
    known = known.filter { $0.base.address != base }
    for relay in relays where relay.base == base {
      relay.client.connectionEnded(.disconnected(reason: "the interface went down"))
    }
    // Which way a stream takes is the system's to know.
    verifyRelays(at: now)
  }

  /// Asks once more each server that has given nothing, or nothing any longer, and each allocation whether it is still there: for an
  /// ICE restart (RFC 8445 §9 gathers anew).
  public func askAgain(at now: Instant) {
    guard isStarted, !isClosed else { return }
    failures = []
    names = names.filter { !$0.value.isEmpty }
    bindings.removeAll { if case .failed = $0.client.state { true } else { false } }
    for relay in relays { relay.isBeyondHelp = false }
    for index in remakes.indices { remakes[index].at = now }
    beginRemakes(at: now)
    for server in configuration.servers.indices {
      let others = bases.filter { base in
        !bindings.contains { $0.server == server && $0.base == base }
          && !relays.contains { $0.server == server && $0.base == base }
      }
      if !others.isEmpty || !isAsked(server) { begin(server, on: others, at: now) }
    }
    verifyRelays(at: now)
  }

  /// Whether a server has been asked, from whatever base.
  func isAsked(_ server: Int) -> Bool {
    relays.contains { $0.server == server } || bindings.contains { $0.server == server }
  }

  /// Whether answers of servers are still waited for.
  public var isGathering: Bool { isStarted && !isComplete && !isClosed }

  /// The addresses of a name that `.resolve` asked for; none where it has none.
  public func resolved(_ name: String, to addresses: [IPAddress], at now: Instant) {
    guard resolving.remove(name) != nil, !isClosed else { return }
    names[name] = addresses
    for (index, server) in configuration.servers.enumerated()
    where server.url.host == .name(name) && !server.url.isStream {
      begin(index, on: bases, at: now)
    }
    settle(at: now)
  }

  /// Lets an address of the peer's through every relay: before its candidate is checked.
  public func permit(_ ip: IPAddress, at now: Instant) {
    guard !isClosed else { return }
    if !permitted.contains(ip) {
      permitted.append(ip)
      if permitted.count > 128 { permitted.removeFirst() }
    }
    for relay in relays { relay.client.permit(ip, at: now) }
    settle(at: now)
  }

  /// Gives the packets for a peer through a relay the short header: for the pair that is used.
  public func bindChannel(_ relay: TransportAddress, to peer: TransportAddress, at now: Instant) {
    self.relay(at: relay)?.client.bindChannel(peer, at: now)
    settle(at: now)
  }

  /// The allocation with this relayed address.
  public func relay(at address: TransportAddress) -> ICERelay? {
    for relay in relays where relay.address == address { return relay }
    return nil
  }

  /// Gives all allocations back. What `nextTransmit` has still wants to be sent.
  public func close(at now: Instant) {
    guard !isClosed else { return }
    for relay in relays { relay.client.close(at: now) }
    settle(at: now)
    isClosed = true
    for relay in relays { if let stream = relay.stream { events.append(.closeStream(stream)) } }
    for relay in relays { droppedHere.add(relay.client.statistics) }
    bindings = []
    relays = []
    remakes = []
  }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    guard !isClosed else { return }
    beginRemakes(at: now)
    for binding in bindings {
      if let due = binding.client.nextDeadline, due <= now { binding.client.poll(at: now) }
    }
    for relay in relays {
      if let due = relay.client.nextDeadline, due <= now { relay.client.poll(at: now) }
    }
    replaceSilentStreams(at: now)
    settle(at: now)
  }

  /// When `poll` wants to be called next; `nil` for never.
  public var nextDeadline: Instant? {
    var deadline: Instant?
    for binding in bindings { deadline = earliest(deadline, binding.client.nextDeadline) }
    for relay in relays { deadline = earliest(deadline, relay.client.nextDeadline) }
    deadline = earliest(deadline, nextRemake)
    return isClosed ? nil : deadline
  }
}
