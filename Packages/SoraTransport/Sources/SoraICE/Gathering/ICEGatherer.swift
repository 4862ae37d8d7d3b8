public import SoraMedia
public import SoraWire

/// Learns server-reflexive and relayed addresses from STUN and TURN servers, for an ICE agent (RFC 8445 §5.1.1).
///
/// All servers are asked at once, from every base that can reach them. Sans-I/O: it says which names to resolve, which streams to open and
/// what to send; give it what comes from the servers, and time with `poll`. Confined to its owner.
public final class ICEGatherer {
  public typealias Configuration = ICEGathering.Configuration
  public typealias Found = ICEGathering.Found
  public typealias Event = ICEGathering.Event
  public typealias Transmit = ICEGathering.Transmit
  public typealias Dropped = ICEGathering.Dropped
  public typealias Received = ICEGathering.Received

  private enum Phase {
    case new
    /// Answers are waited for.
    case gathering
    /// Every server has answered or was given up.
    case complete
    case closed
  }

  public let configuration: Configuration
  private let random: RandomSource
  private var phase = Phase.new
  private var names = ServerNames()
  private var bases: [TransportAddress] = []
  private var reflexive = ReflexiveAddresses()
  private var relays = RelayAllocations()
  private var remakes: RelayRemakes
  private var output = GatheringOutput()

  public init(configuration: Configuration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    remakes = RelayRemakes(configuration: configuration, random: random)
  }

  /// What servers did not give, in order; each server once.
  public var failures: [ICEServerFailure] { output.failures }

  /// Counts since the gatherer was made, over servers that were and that are.
  public var dropped: Dropped { relays.dropped }

  /// Whether answers of servers are still waited for.
  public var isGathering: Bool { phase == .gathering }

  private var isStarted: Bool { phase == .gathering || phase == .complete }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> Event? { output.nextEvent() }

  /// The next message to send; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> Transmit? { output.nextTransmit() }

  /// Begins to ask the servers from the given sockets.
  public func start(bases: [TransportAddress], at now: Instant) {
    guard phase == .new else { return }
    phase = .gathering
    self.bases = bases
    for server in configuration.servers.indices { begin(server, on: bases, at: now) }
    settle(at: now)
  }

  /// A new socket of ours, as after an interface came up: the servers are asked from there too.
  public func addBase(_ base: TransportAddress, at now: Instant) {
    guard isStarted, !bases.contains(base) else { return }
    bases.append(base)
    // What failed for want of a way may succeed now.
    remakes.hurry(at: now)
    for server in configuration.servers.indices { begin(server, on: [base], at: now) }
    settle(at: now)
  }

  /// A socket is gone, and with it what was learnt through it.
  public func removeBase(_ base: TransportAddress, at now: Instant) {
    bases.removeAll { $0 == base }
    reflexive.forget(base: base)
    remakes.forget(base: base)
    output.forget(base: base)
    for relay in relays.all where relay.base == base {
      relay.client.connectionEnded(.disconnected(reason: "the interface went down"))
    }
    // Which way a stream takes is the system's to know.
    verifyRelays(at: now)
  }

  /// Asks once more each server that has given nothing, or nothing any longer, and each allocation whether it is still there: for an
  /// ICE restart (RFC 8445 §9 gathers anew).
  public func askAgain(at now: Instant) {
    guard isStarted else { return }
    output.forgetFailures()
    names.forgetFailures()
    reflexive.forgetFailures()
    for relay in relays.all { relay.isBeyondHelp = false }
    remakes.hurry(at: now)
    beginRemakes(at: now)
    for server in configuration.servers.indices {
      let others = bases.filter { base in
        !reflexive.isAsked(server, from: base)
          && !relays.isAsked(server, from: base)
      }
      if !others.isEmpty || !isAsked(server) { begin(server, on: others, at: now) }
    }
    verifyRelays(at: now)
  }

  /// Whether a server has been asked, from whatever base.
  private func isAsked(_ server: Int) -> Bool {
    relays.isAsked(server) || reflexive.isAsked(server)
  }

  /// The addresses of a name that `.resolve` asked for; none where it has none.
  public func resolved(_ name: String, to addresses: [IPAddress], at now: Instant) {
    guard names.resolved(name, to: addresses), phase != .closed else { return }
    for (index, server) in configuration.servers.enumerated()
    where server.url.host == .name(name) && !server.url.isStream {
      begin(index, on: bases, at: now)
    }
    settle(at: now)
  }

  /// Lets an address of the peer's through every relay: before its candidate is checked.
  public func permit(_ ip: IPAddress, at now: Instant) {
    guard phase != .closed else { return }
    relays.permit(ip, at: now)
    settle(at: now)
  }

  /// Gives the packets for a peer through a relay the short header: for the pair that is used.
  public func bindChannel(_ relay: TransportAddress, to peer: TransportAddress, at now: Instant) {
    self.relay(at: relay)?.client.bindChannel(peer, at: now)
    settle(at: now)
  }

  /// The allocation with this relayed address.
  public func relay(at address: TransportAddress) -> ICERelay? { relays.relay(at: address) }

  /// Gives all allocations back. What `nextTransmit` has still wants to be sent.
  public func close(at now: Instant) {
    guard phase != .closed else { return }
    for relay in relays.all { relay.client.close(at: now) }
    settle(at: now)
    phase = .closed
    for relay in relays.all { if let stream = relay.stream { output.say(.closeStream(stream)) } }
    reflexive.removeAll()
    relays.remove(relays.all)
    remakes.removeAll()
  }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    guard phase != .closed else { return }
    beginRemakes(at: now)
    reflexive.poll(at: now)
    relays.poll(at: now)
    replaceSilentStreams(at: now)
    settle(at: now)
  }

  /// When `poll` wants to be called next; `nil` for never.
  public var nextDeadline: Instant? {
    var deadline = earliest(
      reflexive.nextDeadline, earliest(relays.nextDeadline, remakes.nextDeadline))
    for relay in relays.all { deadline = earliest(deadline, replacementDue(of: relay)) }
    return phase == .closed ? nil : deadline
  }

  /// Asks the servers whether they still have our allocations: for when the way to the peer has gone silent.
  ///
  /// One that a server has forgotten is lost at once, and asked for again; beside a stream that doesn't answer another one is opened.
  public func verifyRelays(at now: Instant) {
    guard phase != .closed else { return }
    for relay in relays.all { relay.client.verify(at: now) }
    settle(at: now)
  }

  /// Whether it may be the server's doing that nothing comes through a relay: it has owed an answer for a second, or the allocation is
  /// gone and another is being asked for.
  public func mayBeDown(_ address: TransportAddress, at now: Instant) -> Bool {
    guard let relay = relay(at: address) else { return isGathering }
    return relay.client.unansweredSince.map { now - $0 >= .seconds(1) } ?? false
  }

  // MARK: What comes from servers

  /// Takes a datagram of our sockets, if it comes from a server. The bytes are lent for the call.
  public func receive(
    _ bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) -> Received {
    for relay in relays.all where relay.base == local && relay.client.server == remote {
      switch relay.client.receive(bytes, at: now) {
      case .handled:
        settle(at: now)
        return .handled
      case .data(let payload, let peer):
        guard let address = relay.address else {
          relays.drop(\.noAllocation)
          return .handled
        }
        return .relayed(payload, from: peer, on: address)
      case .notMine: break
      }
    }
    guard reflexive.receive(bytes, from: remote, on: local, at: now) else { return .notMine }
    settle(at: now)
    return .handled
  }

  /// A stream that `.openStream` asked for is open.
  public func streamOpened(_ stream: Int, at now: Instant) {
    guard let relay = relays.relay(of: stream), !relay.isOpen else { return }
    relay.isOpen = true
    relay.client.start(at: now)
    settle(at: now)
  }

  /// A stream couldn't be opened, or has ended.
  public func streamEnded(_ stream: Int, reason: String, at now: Instant) {
    relays.relay(of: stream)?.client.connectionEnded(.disconnected(reason: reason))
    settle(at: now)
  }

  /// Takes what a stream brought. `body` is lent each datagram that came through the relay.
  public func streamReceived(
    _ stream: Int, _ bytes: RawSpan, at now: Instant,
    _ body: (inout MutableRawSpan, TransportAddress, TransportAddress) -> Void
  ) {
    guard let relay = relays.relay(of: stream), relay.isOpen else {
      relays.drop(\.unknownStream)
      return
    }
    relay.receive(bytes, at: now, dropped: { relays.drop($0) }, body)
    settle(at: now)
  }

  // MARK: Servers

  /// Asks one server from the given bases, or has its name resolved first.
  private func begin(_ index: Int, on bases: [TransportAddress], at now: Instant) {
    let server = configuration.servers[index]
    if server.url.scheme.isSecure, server.url.transport == .udp {
      return fail(index, .unsupported("TURN over DTLS"))
    }
    if server.url.isStream {
      // One connection serves, whatever the base: the system chooses its way.
      guard server.url.scheme.isTURN else {
        // A stream's mapped address says nothing about the datagrams' way.
        return fail(index, .unsupported("STUN over a connection"))
      }
      if !relays.isAsked(index), hasRoom { openStream(index, to: server) }
      return
    }
    let addresses: [IPAddress]
    switch names.look(up: server.url.host) {
    case .addresses(let known): addresses = known
    case .unasked(let name): return output.say(.resolve(name: name))
    case .resolving: return
    }
    if addresses.isEmpty, case .name(let name) = server.url.host {
      return fail(index, .unresolvable(name: name))
    }
    var isAsked = false
    for base in bases {
      guard let address = addresses.first(where: { canReach($0, from: base.ip) }) else { continue }
      let remote = TransportAddress(ip: address, port: server.url.port)
      if server.url.scheme.isTURN {
        isAsked = beginRelay(index, from: base, to: remote, at: now) || isAsked
      } else if configuration.policy != .relay, hasRoom {
        let client = STUNBindingClient(
          server: remote, random: random, retransmission: configuration.retransmission)
        reflexive.ask(index, with: client, from: base, at: now)
        isAsked = true
      }
    }
    if !isAsked, configuration.policy != .relay || server.url.scheme.isTURN, !self.isAsked(index) {
      fail(index, .unsupported("reaching it from \(bases.count) local addresses"))
    }
  }

  private var hasRoom: Bool { reflexive.count + relays.count < configuration.maximumClients }

  // What leaves the host and what doesn't are no use to each other.
  private func canReach(_ server: IPAddress, from base: IPAddress) -> Bool {
    server.isV4 == base.isV4 && server.isLoopback == base.isLoopback
      && (server.isLinkLocal == base.isLinkLocal || base.isV4)
  }

  private func beginRelay(
    _ index: Int, from base: TransportAddress, to remote: TransportAddress, tries: Int = 0,
    at now: Instant
  ) -> Bool {
    guard hasRoom,
      relays.count(on: index) < configuration.maximumRelaysPerServer
    else { return false }
    // Two URLs of one server must not ask for one 5-tuple's allocation twice (RFC 8656 §7.2 refuses the second).
    if !relays.isAsked(remote, from: base) {
      let client = makeClient(index, to: remote, isStream: false)
      relays.begin(client, on: index, from: base, tries: tries, at: now)
    }
    return true
  }

  private func openStream(
    _ index: Int, to server: ICEServer, tries: Int = 0, predecessor: ICERelay? = nil
  ) {
    let url = server.url
    // The address is only known for literals; a proxy may resolve names itself.
    let placeholder = TransportAddress(ip: url.host.ip ?? IPAddress(v4: 0), port: url.port)
    let client = makeClient(index, to: placeholder, isStream: true)
    let stream = relays.add(client, on: index, tries: tries, predecessor: predecessor)
    output.say(.openStream(stream, to: server))
  }

  private func makeClient(_ index: Int, to remote: TransportAddress, isStream: Bool) -> TURNClient {
    let server = configuration.servers[index]
    var client = TURNClient.Configuration(credentials: server.credentials)
    client.isStream = isStream
    client.family = remote.ip.isV4 ? .ipv4 : .ipv6
    client.retransmission = configuration.retransmission
    return TURNClient(server: remote, configuration: client, random: random)
  }

  private func fail(_ index: Int, _ error: TURNError) {
    output.fail(configuration.servers[index].url, error)
  }

  // MARK: What the clients have to say

  /// Collects what the clients want to send and have found.
  private func settle(at now: Instant) {
    settleReflexive()
    var gone: [ICERelay] = []
    for relay in relays.all {
      while let bytes = relay.client.nextTransmit() { transmit(bytes, relay) }
      while let event = relay.client.nextEvent() {
        switch event {
        case .allocated(let relayed, let mapped): found(relay, relayed, mapped, at: now)
        case .failed(let error):
          gone.append(relay)
          lose(relay, error, at: now)
        case .permissionRefused: break
        }
      }
      // Permissions that were asked for just now.
      while let bytes = relay.client.nextTransmit() { transmit(bytes, relay) }
    }
    relays.remove(gone)
    dropNeedlessSuccessors(at: now)
    announceEnd()
  }

  private func transmit(_ bytes: [UInt8], _ relay: ICERelay) {
    if let stream = relay.stream {
      output.send(.stream(stream, bytes: bytes))
    } else if let base = relay.base {
      output.send(.datagram(from: base, to: relay.client.server, bytes: bytes))
    }
  }

  private func settleReflexive() {
    for answer in reflexive.settle(&output) {
      switch answer.result {
      case .success(let address):
        foundReflexive(address, base: answer.base, answer.server, answer.ip)
      case .failure(let error): fail(answer.server, error)
      }
    }
  }

  private func found(
    _ relay: ICERelay, _ relayed: TransportAddress, _ mapped: TransportAddress?, at now: Instant
  ) {
    let url = configuration.servers[relay.server].url
    let address = relay.stream == nil || url.host.ip != nil ? relay.client.server.ip : nil
    if let base = relay.base, let mapped {
      foundReflexive(mapped, base: base, relay.server, relay.client.server.ip)
    }
    // Who insists on relays doesn't show the mapped address (RFC 8828 §3).
    let shown = configuration.policy == .relay ? nil : mapped
    output.report(.relayed(relayed, mapped: shown, server: address, url: url))
    relay.lastAddress = relayed
    relay.allocatedAt = now
    if let old = relay.predecessor.take() { dismiss(old, at: now) }
    relays.permitKnown(through: relay, at: now)
  }

  private func foundReflexive(
    _ address: TransportAddress, base: TransportAddress, _ server: Int, _ ip: IPAddress
  ) {
    let url = configuration.servers[server].url
    guard configuration.policy != .relay,
      let found = Found.reflexive(address, base: base, server: ip, url: url)
    else { return }
    output.report(found)
  }

  private func lose(_ relay: ICERelay, _ error: TURNError, at now: Instant) {
    withdraw(relay)
    // Over a stream another server takes another connection (RFC 8489 §10).
    if case .redirected(let other) = error, relay.stream != nil,
      relays.count(on: relay.server) < 4
    {
      var server = configuration.servers[relay.server]
      server.url.host = .ip(other.ip)
      server.url.port = other.port
      openStream(relay.server, to: server, tries: relay.tries, predecessor: relay.predecessor)
      return
    }
    if replace(relay, lostBy: error, at: now) { return }
    fail(relay.server, error)
  }

  /// Closes a relay's stream, and takes back what was reported of it.
  private func withdraw(_ relay: ICERelay) {
    if let stream = relay.stream { output.say(.closeStream(stream)) }
    output.withdraw(relay: relay.lastAddress)
  }

  private func announceEnd() {
    guard isStarted else { return }
    let isDone = !names.isResolving && reflexive.isDone && remakes.isEmpty && relays.isDone
    if isDone, phase == .gathering { output.say(.complete) }
    phase = isDone ? .complete : .gathering
  }

  // MARK: Allocations that are lost, and streams that keep silent

  /// Finds or plans what takes the place of a lost allocation. Returns false where that is no use.
  private func replace(_ relay: ICERelay, lostBy error: TURNError, at now: Instant) -> Bool {
    // What was to stand in for it takes over.
    if let successor = relays.successor(of: relay) {
      successor.predecessor = nil
      return true
    }
    if remakes.lost(relay) { return true }
    guard error.isRecoverable, relay.lastAddress != nil || relay.tries > 0 else { return false }
    if let base = relay.base, !bases.contains(base) { return false }
    if remakes.plan(relay, at: now) { return true }
    relay.predecessor?.isBeyondHelp = true
    return relay.predecessor != nil
  }

  private func beginRemakes(at now: Instant) {
    for remake in remakes.takeDue(at: now) {
      if let way = remake.way {
        _ = beginRelay(
          remake.server, from: way.base, to: way.remote, tries: remake.tries, at: now)
      } else if remake.predecessor != nil || !relays.isAsked(remake.server) {
        openStream(
          remake.server, to: configuration.servers[remake.server], tries: remake.tries,
          predecessor: remake.predecessor)
      }
    }
  }

  /// Opens another stream beside each that has owed an answer for too long: it may be dead without an end, or only slow.
  private func replaceSilentStreams(at now: Instant) {
    for relay in relays.all {
      guard let due = replacementDue(of: relay), due <= now else { continue }
      openStream(
        relay.server, to: configuration.servers[relay.server], tries: 1, predecessor: relay)
    }
  }

  private func replacementDue(of relay: ICERelay) -> Instant? {
    guard relay.stream != nil, !relay.isBeyondHelp, let since = relay.client.unansweredSince,
      relays.successor(of: relay) == nil, !remakes.replaces(relay)
    else { return nil }
    return since + configuration.streamPatience
  }

  /// An old stream that speaks again needs nobody in its place.
  private func dropNeedlessSuccessors(at now: Instant) {
    remakes.dropNeedless()
    for relay in relays.all where relay.predecessor?.isAnswered == true { dismiss(relay, at: now) }
  }

  private func dismiss(_ relay: ICERelay, at now: Instant) {
    relay.client.close(at: now)
    withdraw(relay)
    relays.remove([relay])
  }
}
