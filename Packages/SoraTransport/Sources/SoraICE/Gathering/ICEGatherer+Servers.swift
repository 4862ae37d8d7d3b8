import SoraMedia
import SoraWire

extension ICEGatherer {
  /// Asks one server from the given bases, or has its name resolved first.
  func begin(_ index: Int, on bases: [TransportAddress], at now: Instant) {
    let server = configuration.servers[index]
    if server.url.scheme.isSecure, server.url.transport == .udp {
      return fail(index, .unsupported("TURN over DTLS"))
    }
    if server.url.isStream {
      // One connection serves, whatever the base: the system chooses its way.
      if !relays.contains(where: { $0.server == index }) { beginStream(index) }
      return
    }
    let addresses: [IPAddress]
    switch server.url.host {
    case .ip(let ip): addresses = [ip]
    case .name(let name):
      guard let known = names[name] else {
        if resolving.insert(name).inserted { events.append(.resolve(name: name)) }
        return
      }
      addresses = known
      if known.isEmpty { return fail(index, .unresolvable(name: name)) }
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
        bindings.append(Binding(client: client, base: base, server: index))
        client.start(at: now)
        isAsked = true
      }
    }
    if !isAsked, configuration.policy != .relay || server.url.scheme.isTURN, !self.isAsked(index) {
      fail(index, .unsupported("reaching it from \(bases.count) local addresses"))
    }
  }

  private var hasRoom: Bool { bindings.count + relays.count < configuration.maximumClients }

  // What leaves the host and what doesn't are no use to each other.
  private func canReach(_ server: IPAddress, from base: IPAddress) -> Bool {
    server.isV4 == base.isV4 && server.isLoopback == base.isLoopback
      && (server.isLinkLocal == base.isLinkLocal || base.isV4)
  }

  func beginRelay(
    _ index: Int, from base: TransportAddress, to remote: TransportAddress, tries: Int = 0,
    at now: Instant
  ) -> Bool {
    guard hasRoom,
      relays.count(where: { $0.server == index }) < configuration.maximumRelaysPerServer
    else { return false }
    // Two URLs of one server must not ask for one 5-tuple's allocation twice (RFC 8656 §7.2 refuses the second).
    guard !relays.contains(where: { $0.base == base && $0.client.server == remote }) else {
      return true
    }
    let client = makeClient(index, to: remote, isStream: false)
    relays.append(
      ICERelay(base: base, stream: nil, client: client, server: index, tries: tries))
    client.start(at: now)
    return true
  }

  private func beginStream(_ index: Int) {
    let url = configuration.servers[index].url
    guard url.scheme.isTURN else {
      // A stream's mapped address says nothing about the datagrams' way.
      return fail(index, .unsupported("STUN over a connection"))
    }
    guard hasRoom else { return }
    openStream(index, to: configuration.servers[index])
  }

  func openStream(
    _ index: Int, to server: ICEServer, tries: Int = 0, predecessor: ICERelay? = nil
  ) {
    let url = server.url
    // The address is only known for literals; a proxy may resolve names itself.
    let placeholder = TransportAddress(ip: url.host.ip ?? IPAddress(v4: 0), port: url.port)
    let client = makeClient(index, to: placeholder, isStream: true)
    let stream = nextStream
    nextStream += 1
    relays.append(
      ICERelay(
        base: nil, stream: stream, client: client, server: index, tries: tries,
        predecessor: predecessor))
    events.append(.openStream(stream, to: server))
  }

  private func makeClient(_ index: Int, to remote: TransportAddress, isStream: Bool) -> TURNClient {
    let server = configuration.servers[index]
    var client = TURNClient.Configuration(credentials: server.credentials)
    client.isStream = isStream
    client.family = remote.ip.isV4 ? .ipv4 : .ipv6
    client.retransmission = configuration.retransmission
    return TURNClient(server: remote, configuration: client, random: random)
  }

  func fail(_ index: Int, _ error: TURNError) {
    let failure = ICEServerFailure(url: configuration.servers[index].url, error: error)
    guard !failures.contains(where: { $0.url == failure.url }) else { return }
    failures.append(failure)
    events.append(.failed(failure))
  }

  // MARK: What the clients have to say

  /// Collects what the clients want to send and have found.
  func settle(at now: Instant) {
    settleBindings()
    var gone: [ICERelay] = []
    for relay in relays {
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
    for relay in gone { droppedHere.add(relay.client.statistics) }
    if !gone.isEmpty { relays.removeAll { relay in gone.contains { $0 === relay } } }
    dropNeedlessSuccessors(at: now)
    announceEnd()
  }

  private func transmit(_ bytes: [UInt8], _ relay: ICERelay) {
    if let stream = relay.stream {
      transmits.append(.stream(stream, bytes: bytes))
    } else if let base = relay.base {
      transmits.append(.datagram(from: base, to: relay.client.server, bytes: bytes))
    }
  }

  private func settleBindings() {
    for index in bindings.indices {
      let binding = bindings[index]
      while let bytes = binding.client.nextTransmit() {
        transmits.append(
          .datagram(from: binding.base, to: binding.client.server, bytes: bytes))
      }
      switch binding.client.state {
      case .mapped(let address):
        bindings[index].isDone = true
        foundReflexive(address, base: binding.base, binding.server, binding.client.server.ip)
      case .failed(let error) where !binding.isDone:
        bindings[index].isDone = true
        fail(binding.server, error)
      default: break
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
    // RFC 8839 §5.1: the mapped address. Who insists on relays doesn't show it (RFC 8828 §3).
    let hidden = TransportAddress(
      ip: relayed.ip.isV4 ? IPAddress(v4: 0) : IPAddress(v6: (0, 0)), port: 0)
    report(
      Found(
        type: .relay, address: relayed,
        base: ICEBase(
          address: relayed, type: .relay, transport: url.isStream ? .tcp : .udp),
        relatedAddress: configuration.policy == .relay ? hidden : mapped ?? hidden,
        server: address, url: url))
    relay.lastAddress = relayed
    relay.allocatedAt = now
    if let old = relay.predecessor { replace(old, by: relay, at: now) }
    for ip in permitted { relay.client.permit(ip, at: now) }
  }

  private func foundReflexive(
    _ address: TransportAddress, base: TransportAddress, _ server: Int, _ ip: IPAddress
  ) {
    // RFC 8445 §5.1.3: without a translator it is the host candidate once more.
    guard configuration.policy != .relay, address != base, address.ip.isV4 == base.ip.isV4,
      address.port != 0
    else { return }
    report(
      Found(
        type: .srflx, address: address, base: ICEBase(address: base), relatedAddress: base,
        server: ip, url: configuration.servers[server].url))
  }

  private func report(_ found: Found) {
    let isKnown = known.contains {
      $0.type == found.type && $0.address == found.address && $0.base == found.base
    }
    guard !isKnown else { return }
    known.insert(found)
    events.append(.found(found))
  }

  private func lose(_ relay: ICERelay, _ error: TURNError, at now: Instant) {
    withdraw(relay)
    // Over a stream another server takes another connection (RFC 8489 §10).
    if case .redirected(let other) = error, relay.stream != nil,
      relays.count(where: { $0.server == relay.server }) < 4
    {
      var server = configuration.servers[relay.server]
      server.url.host = .ip(other.ip)
      server.url.port = other.port
      openStream(relay.server, to: server, tries: relay.tries, predecessor: relay.predecessor)
      return
    }
    if planRemake(of: relay, after: error, at: now) { return }
    fail(relay.server, error)
  }

  /// Closes a relay's stream, and takes back what was reported of it.
  func withdraw(_ relay: ICERelay) {
    if let stream = relay.stream { events.append(.closeStream(stream)) }
    if let old = known.first(where: { $0.type == .relay && $0.base.address == relay.lastAddress }) {
      known.remove(old)
      events.append(.lost(relay: old.address))
    }
  }

  private func announceEnd() {
    let isDone =
      isStarted && resolving.isEmpty && bindings.allSatisfy(\.isDone) && remakes.isEmpty
      && relays.allSatisfy { $0.address != nil }
    if isDone, !isComplete { events.append(.complete) }
    isComplete = isDone
  }
}
