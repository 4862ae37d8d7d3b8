import Glibc
import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport

/// What stands between a peer and the internet.
enum Place: String, CaseIterable {
  case open, fullCone, restrictedCone, portRestrictedCone, symmetric, noDatagrams

  var nat: NATBehaviour? {
    switch self {
    case .open, .noDatagrams: nil
    case .fullCone: .fullCone
    case .restrictedCone: .restrictedCone
    case .portRestrictedCone: .portRestrictedCone
    case .symmetric: .symmetric
    }
  }

  /// The type of the candidate that both sides end up with for a peer here.
  var seenAs: ICECandidateType {
    switch self {
    case .open: .host
    case .symmetric: .prflx
    default: .srflx
    }
  }
}

/// Which servers the controlling side may ask besides STUN.
enum Access: String, CaseIterable {
  case stun, turnUDP, turnTCP, turnTLS

  var isStream: Bool { self == .turnTCP || self == .turnTLS }

  var servers: [ICEServer] {
    let stun = ICEServer(url: ICEServerURL("stun:192.0.2.1")!)
    let text: String
    switch self {
    case .stun: return [stun]
    case .turnUDP: text = "turn:192.0.2.1"
    case .turnTCP: text = "turn:192.0.2.1?transport=tcp"
    case .turnTLS: text = "turns:192.0.2.1"
    }
    let turn = ICEServer(
      url: ICEServerURL(text)!, credentials: .init(username: "ann", password: "secret"))
    return [stun, turn]
  }
}

/// Two peers, each behind something, and a STUN and TURN server that both may reach.
final class HostileWorld {
  let network: SimulatedNetwork
  let internet: SimulatedHost
  let server: SimulatedTURNServer
  let hosts: [SimulatedHost]
  /// Each peer's link to what stands before it.
  var links: [SimulatedLink] = []
  var nats: [SimulatedNAT?] = []
  /// `a` controls, and is the one that `access` is for; `b` has STUN alone.
  let a: SimulatedTransportPeer
  let b: SimulatedTransportPeer

  init(
    seed: UInt64, _ placeA: Place, _ placeB: Place, _ access: Access,
    conditions: LinkConditions = LinkConditions(delay: .milliseconds(10)),
    serversB: [ICEServer] = Access.stun.servers,
    policies: (a: ICETransportPolicy, b: ICETransportPolicy) = (.all, .all),
    ports: NATBehaviour.Ports? = nil, mappingTimeout: Duration? = nil,
    _ configure: (inout SimulatedTransportPeer.Configuration) -> Void = { _ in }
  ) throws {
    let network = SimulatedNetwork(seed: seed, retention: .latest(200))
    let internet = network.addRouter("internet")
    self.network = network
    self.internet = internet
    let serverHost = network.addHost("server", "192.0.2.1")
    network.link(serverHost, internet, LinkConditions(delay: .milliseconds(5)))
    server = SimulatedTURNServer(
      network, on: serverHost,
      configuration: .init(realm: "sora.test", credentials: .users(["ann": "secret"])))
    var hosts: [SimulatedHost] = []
    for (number, place) in [(1, placeA), (2, placeB)] {
      let name = number == 1 ? "a" : "b"
      var behaviour = place.nat
      let isInside = behaviour != nil
      let host = network.addHost(name, isInside ? "10.\(number).0.2" : "203.0.\(number).2")
      var before = internet
      if place == .noDatagrams {
        before = network.addFirewall("firewall \(name)", .noDatagrams, uplink: internet).router
      }
      if let ports { behaviour?.ports = ports }
      if let mappingTimeout { behaviour?.mappingTimeout = mappingTimeout }
      let nat = behaviour.map {
        network.addNAT(
          "nat \(name)", $0, outside: [IPAddress("203.0.\(number).1")!], uplink: internet)
      }
      nats.append(nat)
      links.append(
        network.link(
          host, nat?.router ?? before, forward: conditions, backward: conditions,
          interfaceA: host.addresses))
      hosts.append(host)
    }
    self.hosts = hosts
    var configuration = SimulatedTransportPeer.Configuration()
    configuration.servers = access.servers
    configuration.policy = policies.a
    configure(&configuration)
    a = try SimulatedTransportPeer(
      network, on: hosts[0], serial: 1, isControlling: true, configuration)
    configuration.servers = serversB
    configuration.policy = policies.b
    b = try SimulatedTransportPeer(
      network, on: hosts[1], serial: 2, isControlling: false, configuration)
  }

  deinit { network.removeAllEndpoints() }

  var areConnected: Bool { a.isConnected && b.isConnected }

  func connect(within limit: Duration = .seconds(15)) -> Bool {
    a.connect(with: b)
    return network.run(until: { areConnected }, within: limit)
  }

  /// Sends each way every 20 ms for a while; returns how many packets arrived at each.
  func exchange(for duration: Duration) -> (atA: Int, atB: Int) {
    let before = (a.packetsReceived, b.packetsReceived)
    var number: UInt16 = 0
    let sending = network.every(.milliseconds(20)) { [a, b] _ in
      a.send(number)
      b.send(number)
      number &+= 1
    }
    network.run(for: duration)
    network.cancel(sending)
    network.run(for: .milliseconds(500))
    return (a.packetsReceived - before.0, b.packetsReceived - before.1)
  }

  /// Sends each way every 20 ms from now on.
  func keepSending() {
    var number: UInt16 = 0
    network.every(.milliseconds(20)) { [a, b] _ in
      a.send(number)
      b.send(number)
      number &+= 1
    }
  }

  var story: String {
    "a \(a.transport.state) \(a.selectedTypes ?? []) b \(b.transport.state) \(b.selectedTypes ?? [])"
  }
}

/// The seeds of a run: `SORA_SIMULATION_SEED` for one alone, `SORA_SIMULATION_SEEDS` for how many.
func simulationSeeds(_ count: Int) -> [UInt64] {
  func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
  if let one = number("SORA_SIMULATION_SEED") { return [one] }
  return Array(1...(number("SORA_SIMULATION_SEEDS") ?? UInt64(count)))
}

/// The line that runs a seed again.
func reproduction(_ seed: UInt64, _ test: String) -> String {
  "SORA_SIMULATION_SEED=\(seed) swift test --package-path Packages/SoraTransport --filter \(test)"
}

extension PeerTransportState {
  var isFailure: Bool { if case .failed = self { true } else { false } }
}
