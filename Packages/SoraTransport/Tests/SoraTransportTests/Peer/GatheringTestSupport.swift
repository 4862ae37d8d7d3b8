import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire

/// One end of a call that gathers from servers and trickles what it finds to the other end.
final class GatheringPeer: SimulatedEndpoint, PeerTransportDelegate {
  let certificate: DTLSCertificate
  let transport: PeerTransport
  private(set) var bases: [TransportAddress]
  weak var other: GatheringPeer?
  private(set) var candidates: [ICECandidate] = []
  private(set) var isGatheringOver = false
  private(set) var states: [(state: PeerTransportState, at: Instant)] = []
  private(set) var received: [UInt16] = []
  private(set) var receivedCount = 0
  /// Whether packets are noted, which allocates, or only counted.
  var notesPackets = true
  private(set) var receivedAt: [Instant] = []
  private(set) var names: [String] = []
  private unowned let network: SimulatedNetwork

  init(
    _ network: SimulatedNetwork, _ bases: [TransportAddress], serial: UInt64, controlling: Bool,
    lite: Bool = false, policy: ICETransportPolicy = .all, servers: [ICEServer] = [],
    sink: (any DatagramSink)? = nil
  ) throws {
    self.network = network
    self.bases = bases
    certificate = try SimulationCertificate.make(serial)
    var configuration = PeerTransport.Configuration(
      ice: ICEAgent.Configuration(isControlling: controlling, isLite: lite),
      certificate: certificate, dtls: StandInDTLSFactory())
    configuration.gathering.servers = servers
    configuration.gathering.policy = policy
    transport = PeerTransport(
      configuration: configuration, random: network.random.fork(), sink: sink ?? network)
    transport.delegate = self
    for base in bases { network.bind(self, to: base) }
  }

  func start(with other: GatheringPeer, client: Bool) {
    self.other = other
    transport.start(
      .init(
        ice: other.transport.ice.localParameters, fingerprint: other.certificate.fingerprint,
        localRole: client ? .client : .server),
      at: network.now)
    transport.gather(on: bases, at: network.now)
    network.deadlinesChanged()
  }

  func addBase(_ base: TransportAddress) {
    network.bind(self, to: base)
    bases.append(base)
    transport.addBase(base, at: network.now)
    network.deadlinesChanged()
  }

  func removeBase(_ base: TransportAddress) {
    transport.removeBase(base, at: network.now)
    network.unbind(base)
    network.deadlinesChanged()
  }

  @discardableResult
  func send(_ number: UInt16, size: Int = 200) -> Bool {
    transport.sendRTP(capacity: size) { memory in
      for index in 0..<size { memory[index] = 0 }
      memory[0] = 0x80
      memory[1] = 96
      memory[2] = UInt8(number >> 8)
      memory[3] = UInt8(truncatingIfNeeded: number)
      memory[11] = 1
      return size
    }
  }

  var selectedTypes: [ICECandidateType] {
    transport.ice.selectedPair.map { [$0.localType, $0.remoteType] } ?? []
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    transport.receive(bytes, from: source, on: local, at: now)
  }

  func poll(at now: Instant) { transport.poll(at: now) }
  var nextDeadline: Instant? { transport.nextDeadline }

  // MARK: PeerTransportDelegate

  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    receivedCount += 1
    guard notesPackets else { return }
    received.append(UInt16(packet[2]) << 8 | UInt16(packet[3]))
    receivedAt.append(now)
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {}

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    states.append((state, now))
  }

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}

  /// Over signaling that takes 30 ms.
  func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant
  ) {
    candidates.append(candidate)
    network.after(.milliseconds(30)) { [weak other] now in
      other?.transport.addRemoteCandidate(candidate, at: now)
    }
  }

  func transportGatheringEnded(_ transport: PeerTransport, at now: Instant) {
    isGatheringOver = true
    network.after(.milliseconds(30)) { [weak other] now in
      other?.transport.endOfRemoteCandidates(at: now)
    }
  }

  func transport(_ transport: PeerTransport, needsAddressesOf name: String) { names.append(name) }
}

/// Two peers behind firewalls, and a TURN server that both reach.
final class RelayedCall {
  let network: SimulatedNetwork
  let turn: SimulatedTURNServer
  let a: GatheringPeer
  let b: GatheringPeer
  let hostA: SimulatedHost
  let firewall = Firewall()

  /// Lets pass what goes to or comes from the server, and everything once it is open.
  final class Firewall: SimulatedMiddlebox {
    var isOpen = false
    let server = IPAddress("192.0.2.1")!
    private(set) var blocked = 0

    func forward(
      source: inout TransportAddress, destination: inout TransportAddress,
      payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
    ) -> Bool {
      let passes = isOpen || source.ip == server || destination.ip == server
      if !passes { blocked += 1 }
      return passes
    }
  }

  static func servers(_ url: String = "turn:192.0.2.1:3478", password: String = "secret")
    -> [ICEServer]
  {
    [
      ICEServer(
        url: ICEServerURL(url)!, credentials: .init(username: "ann", password: password))
    ]
  }

  init(
    seed: UInt64, loss: Double = 0, policyA: ICETransportPolicy = .all,
    policyB: ICETransportPolicy = .all, serversA: [ICEServer] = RelayedCall.servers(),
    serversB: [ICEServer] = [],
    sinks: (SimulatedNetwork) -> (
      a: (any DatagramSink)?, b: (any DatagramSink)?, turn: (any DatagramSink)?
    ) = { _ in (nil, nil, nil) }
  ) throws {
    network = SimulatedNetwork(seed: seed, retention: .digestOnly)
    let sinks = sinks(network)
    hostA = network.addHost("a", "10.0.0.1", "10.0.1.1")
    let hostB = network.addHost("b", "198.51.100.2")
    let hostT = network.addHost("t", "192.0.2.1")
    let router = network.addRouter("r", middlebox: firewall)
    let conditions = LinkConditions(delay: .milliseconds(10), loss: loss)
    network.link(hostA, router, conditions)
    network.link(hostB, router, conditions)
    network.link(hostT, router, LinkConditions(delay: .milliseconds(5)))
    turn = SimulatedTURNServer(
      network, on: hostT,
      configuration: .init(realm: "sora.test", credentials: .users(["ann": "secret"])),
      sink: sinks.turn)
    a = try GatheringPeer(
      network, [TransportAddress("10.0.0.1:5000")!], serial: 1, controlling: true, policy: policyA,
      servers: serversA, sink: sinks.a)
    b = try GatheringPeer(
      network, [TransportAddress("198.51.100.2:6000")!], serial: 2, controlling: false,
      policy: policyB, servers: serversB, sink: sinks.b)
  }

  deinit { network.removeAllEndpoints() }

  func start() {
    a.start(with: b, client: true)
    b.start(with: a, client: false)
  }

  func connect() -> Bool {
    start()
    return network.run(
      until: { a.transport.state == .connected && b.transport.state == .connected },
      within: .seconds(15))
  }

  /// Sends `count` packets each way, 10 ms apart.
  func exchange(_ count: Int, from first: UInt16 = 0) {
    for number in 0..<count {
      a.send(first &+ UInt16(number))
      b.send(first &+ UInt16(number))
      network.deadlinesChanged()
      network.run(for: .milliseconds(10))
    }
    network.run(for: .milliseconds(500))
  }
}
