public import SoraICE
public import SoraMedia

/// A network address translator between the hosts linked to its `router` and the network its uplink leads to.
///
/// Make one with `SimulatedNetwork.addNAT`, then link hosts, or further NATs, to `router`. Datagrams between its own hosts aren't
/// translated. What comes from outside passes only with a mapping; private addresses aren't reachable from there, though every
/// address of a simulation is unique. A family for which it has no outside address is routed as it is.
public final class SimulatedNAT: SimulatedMiddlebox {
  /// Counters since it was made.
  public struct Statistics: Sendable, Equatable {
    public internal(set) var mappingsMade = 0
    public internal(set) var mappingsExpired = 0
    /// Datagrams from outside without a mapping, or that its filter refused.
    public internal(set) var filtered = 0
    /// Datagrams from inside to inside by an outside address, passed or (without hairpinning) not.
    public internal(set) var hairpinned = 0
    public internal(set) var hairpinsRefused = 0
    /// Datagrams dropped since no port was left.
    public internal(set) var portsExhausted = 0
  }

  /// What it does; a change acts on mappings made later, and on filters at once.
  public var behaviour: NATBehaviour
  public private(set) var statistics = Statistics()
  /// The node to link inside hosts to. Owned by the network.
  public unowned let router: SimulatedHost
  /// The link to the outside.
  public let uplink: SimulatedLink
  private unowned let network: SimulatedNetwork
  private var random: SimulationRandom
  private var byInside: [Key: Mapping] = [:]
  private var byOutside: [TransportAddress: Mapping] = [:]

  private struct Key: Hashable {
    var inside: TransportAddress
    var remoteIP: IPAddress?
    var remotePort: UInt16?
  }

  private final class Mapping {
    let key: Key
    let outside: TransportAddress
    var expiresAt: Instant
    /// Far ends it has sent to, and until when they may answer.
    var peers: [TransportAddress: Instant] = [:]

    init(key: Key, outside: TransportAddress, expiresAt: Instant) {
      self.key = key
      self.outside = outside
      self.expiresAt = expiresAt
    }
  }

  init(
    network: SimulatedNetwork, router: SimulatedHost, uplink: SimulatedLink,
    behaviour: NATBehaviour, seed: UInt64
  ) {
    self.network = network
    self.router = router
    self.uplink = uplink
    self.behaviour = behaviour
    random = SimulationRandom(seed: seed)
  }

  /// Mappings that haven't run out.
  public func mappingCount(at now: Instant) -> Int {
    byOutside.values.count(where: { $0.expiresAt > now })
  }

  /// Where `inside` appears to `remote` at the moment; `nil` without a mapping.
  public func outsideAddress(
    of inside: TransportAddress, towards remote: TransportAddress, at now: Instant
  ) -> TransportAddress? {
    guard let mapping = byInside[key(inside, remote)], mapping.expiresAt > now else { return nil }
    return mapping.outside
  }

  /// Forgets every mapping, as a restart does.
  public func reboot() {
    byInside = [:]
    byOutside = [:]
  }

  // MARK: SimulatedMiddlebox

  public func forward(
    source: inout TransportAddress, destination: inout TransportAddress,
    payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
  ) -> Bool {
    if link === uplink { return translateInbound(source, &destination, at: now) }
    if router.addresses.contains(destination.ip) { return hairpin(&source, &destination, at: now) }
    guard network.link(from: router, source: source.ip, to: destination.ip) === uplink,
      outsideAddress(like: source.ip) != nil
    else { return true }
    guard let mapping = map(source, to: destination, at: now) else { return false }
    source = mapping.outside
    return true
  }

  public func admitStream(
    source: inout TransportAddress, destination: TransportAddress, over link: SimulatedLink,
    at now: Instant
  ) -> Bool {
    if link === uplink { return false }
    // Ports of streams are unique in a simulation, so the inside one is free outside too.
    if let outside = outsideAddress(like: source.ip) { source.ip = outside }
    return true
  }

  private func translateInbound(
    _ source: TransportAddress, _ destination: inout TransportAddress, at now: Instant
  ) -> Bool {
    guard router.addresses.contains(destination.ip) else {
      if outsideAddress(like: destination.ip) == nil { return true }
      statistics.filtered += 1
      return false
    }
    guard let mapping = liveMapping(at: destination, at: now), permits(mapping, source, at: now)
    else {
      statistics.filtered += 1
      return false
    }
    if behaviour.inboundRefreshes { touch(mapping, source, at: now) }
    destination = mapping.key.inside
    return true
  }

  private func hairpin(
    _ source: inout TransportAddress, _ destination: inout TransportAddress, at now: Instant
  ) -> Bool {
    guard behaviour.hairpins, let target = liveMapping(at: destination, at: now),
      let mapping = map(source, to: destination, at: now),
      permits(target, mapping.outside, at: now)
    else {
      statistics.hairpinsRefused += 1
      return false
    }
    statistics.hairpinned += 1
    // RFC 4787 §6, REQ-9: what is hairpinned comes from the outside address.
    source = mapping.outside
    destination = target.key.inside
    return true
  }

  // MARK: Mappings

  private func outsideAddress(like ip: IPAddress) -> IPAddress? {
    router.addresses.first { $0.isV4 == ip.isV4 }
  }

  private func key(_ inside: TransportAddress, _ remote: TransportAddress) -> Key {
    switch behaviour.mapping {
    case .endpointIndependent: Key(inside: inside)
    case .addressDependent: Key(inside: inside, remoteIP: remote.ip)
    case .addressAndPortDependent:
      Key(inside: inside, remoteIP: remote.ip, remotePort: remote.port)
    }
  }

  private func map(
    _ inside: TransportAddress, to remote: TransportAddress, at now: Instant
  ) -> Mapping? {
    let key = key(inside, remote)
    if let known = byInside[key] {
      if known.expiresAt > now {
        touch(known, remote, at: now)
        return known
      }
      expire(known)
    }
    guard let ip = outsideAddress(like: inside.ip), let port = port(like: inside.port, of: ip, now)
    else {
      statistics.portsExhausted += 1
      return nil
    }
    let mapping = Mapping(key: key, outside: TransportAddress(ip: ip, port: port), expiresAt: now)
    byInside[key] = mapping
    byOutside[mapping.outside] = mapping
    statistics.mappingsMade += 1
    touch(mapping, remote, at: now)
    return mapping
  }

  private func port(like inside: UInt16, of ip: IPAddress, _ now: Instant) -> UInt16? {
    func isFree(_ port: UInt16) -> Bool {
      liveMapping(at: TransportAddress(ip: ip, port: port), at: now) == nil
    }
    let range = 65_536 - 1024
    var offset =
      behaviour.ports == .preserved && inside >= 1024
      ? Int(inside) - 1024 : Int(random.next() % UInt64(range))
    for _ in 0..<range {
      let port = UInt16(1024 + offset)
      if isFree(port) { return port }
      offset = (offset + 1) % range
    }
    return nil
  }

  private func liveMapping(at outside: TransportAddress, at now: Instant) -> Mapping? {
    guard let mapping = byOutside[outside] else { return nil }
    if mapping.expiresAt > now { return mapping }
    expire(mapping)
    return nil
  }

  private func expire(_ mapping: Mapping) {
    statistics.mappingsExpired += 1
    byInside[mapping.key] = nil
    byOutside[mapping.outside] = nil
  }

  private func touch(_ mapping: Mapping, _ remote: TransportAddress, at now: Instant) {
    mapping.expiresAt = now + behaviour.mappingTimeout
    if mapping.peers.count >= 1024 { mapping.peers = mapping.peers.filter { $0.value > now } }
    mapping.peers[remote] = mapping.expiresAt
  }

  private func permits(_ mapping: Mapping, _ source: TransportAddress, at now: Instant) -> Bool {
    switch behaviour.filtering {
    case .endpointIndependent: true
    case .addressDependent:
      mapping.peers.contains { $0.key.ip == source.ip && $0.value > now }
    case .addressAndPortDependent: (mapping.peers[source] ?? .zero) > now
    }
  }
}

extension SimulatedNetwork {
  /// Adds a translator whose uplink goes to `outer`: a router, or another NAT's or firewall's.
  ///
  /// - Parameters:
  ///   - name: for logs.
  ///   - behaviour: how it maps and filters.
  ///   - outside: its addresses on the outside, one a family.
  ///   - outer: what it hangs on.
  ///   - conditions: of the uplink, both ways.
  @discardableResult
  public func addNAT(
    _ name: String, _ behaviour: NATBehaviour, outside: [IPAddress], uplink outer: SimulatedHost,
    _ conditions: LinkConditions = .ideal
  ) -> SimulatedNAT {
    let router = addRouter(name, addresses: outside)
    let nat = SimulatedNAT(
      network: self, router: router, uplink: link(router, outer, conditions), behaviour: behaviour,
      seed: topology.seed ^ UInt64(router.index) &* 0x9E6C_63D0_876A_68DD)
    router.middlebox = nat
    return nat
  }
}
