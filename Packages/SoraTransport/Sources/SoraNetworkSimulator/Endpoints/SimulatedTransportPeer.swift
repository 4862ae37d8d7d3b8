public import SoraDTLS
public import SoraICE
public import SoraMedia
public import SoraTransport
public import SoraWire

/// One end of a call on a host of a `SimulatedNetwork`: a `PeerTransport` that gathers, trickles its candidates to the other end, and
/// follows the addresses of its host as netlink would tell them.
///
/// Make two, `connect` them, run the network. Confined to the network's thread; the network keeps it.
@safe public final class SimulatedTransportPeer: SimulatedEndpoint, PeerTransportDelegate {
  /// What a peer is. The defaults are a browser's.
  public struct Configuration {
    public var servers: [ICEServer] = []
    public var policy = ICETransportPolicy.all
    /// Makes the handshake: a stand-in, or `NativeDTLSFactory` for the real one.
    public var dtls: any DTLSEndpointFactory = StandInDTLSFactory()
    /// ICE's patience and timers; which side controls is `connect`'s to say.
    public var ice = ICEAgent.Configuration(isControlling: false)
    /// Travelling time of candidates to the other end.
    public var signalingDelay: Duration = .milliseconds(30)
    /// From an address's coming or going until the transport hears of it.
    public var interfaceDelay: Duration = .milliseconds(50)

    public init() {}
  }

  public let name: String
  public let transport: PeerTransport
  public let certificate: DTLSCertificate
  /// Sockets that are open, one an address.
  public private(set) var bases: [TransportAddress] = []
  /// What the transport told, in order.
  public private(set) var states: [(state: PeerTransportState, at: Instant)] = []
  public private(set) var candidates: [ICECandidate] = []
  public private(set) var isGatheringOver = false
  /// RTP packets received, and when the last one came.
  public private(set) var packetsReceived = 0
  public private(set) var lastPacketAt: Instant?
  /// Whether candidates that are found reach the other end; those found meanwhile are lost for good.
  public var isSignalingUp = true
  /// Called for each RTP packet.
  public var onPacket: ((Instant) -> Void)?
  /// What is sent and received over the transport; driven along with it, where there is one.
  public var session: RTPSession?
  /// Datagrams that left and came, with the headers of UDP and IP.
  public var sent: Traffic { sink.sent }
  public private(set) var received = Traffic()

  /// Datagrams and their bytes on the wire, headers of UDP and IP included.
  public struct Traffic: Sendable, Equatable {
    public var packets = 0
    public var wireBytes = 0

    mutating func add(_ payload: Int, to address: TransportAddress) {
      packets += 1
      wireBytes += payload + (address.ip.isV4 ? 28 : 48)
    }
  }

  private unowned let network: SimulatedNetwork
  private unowned let host: SimulatedHost
  private let sink: CountingSink
  private let configuration: Configuration
  private var streams: SimulatedICEStreams?
  private weak var other: SimulatedTransportPeer?
  /// Our role in the handshake, which a restart doesn't change.
  private var isClient = false

  /// - Parameters:
  ///   - network: the network that it is part of.
  ///   - host: the host that it runs on.
  ///   - serial: of its certificate; another one for each peer.
  ///   - isControlling: whether it nominates; one of the two does.
  ///   - configuration: servers, policies and the way to the peer.
  public init(
    _ network: SimulatedNetwork, on host: SimulatedHost, serial: UInt64, isControlling: Bool,
    _ configuration: Configuration = Configuration()
  ) throws(DTLSError) {
    self.network = network
    self.host = host
    self.configuration = configuration
    name = host.name
    certificate = try SimulationCertificate.make(serial)
    var ice = configuration.ice
    ice.isControlling = isControlling
    var parts = PeerTransport.Configuration(
      ice: ice, certificate: certificate, dtls: configuration.dtls)
    parts.gathering.servers = configuration.servers
    parts.gathering.policy = configuration.policy
    sink = CountingSink(network)
    transport = PeerTransport(
      configuration: parts, random: network.random.fork(), sink: sink)
    transport.delegate = self
    streams = SimulatedICEStreams(network, on: host, for: transport)
    bases = host.addresses.map { open($0) }
    host.onAddressesChanged { [weak self, unowned network] added, removed in
      network.after(configuration.interfaceDelay) { [weak self] _ in
        self?.follow(added: added, removed: removed)
      }
    }
  }

  /// Exchanges descriptions with another peer and starts both. The controlling side is DTLS's client.
  public func connect(with other: SimulatedTransportPeer) {
    for (one, two) in [(self, other), (other, self)] {
      one.other = two
      one.isClient = one.transport.ice.isControlling
      one.accept(two, at: network.now)
    }
    for peer in [self, other] { peer.transport.gather(on: peer.bases, at: network.now) }
    network.deadlinesChanged()
  }

  /// Restarts ICE: this end offers, and the other answers once the offer has travelled.
  public func restartICE() {
    transport.restartICE(at: network.now)
    network.deadlinesChanged()
    network.after(configuration.signalingDelay) { [weak self, unowned network] now in
      guard let self, let other else { return }
      other.transport.restartICE(at: now)
      other.accept(self, at: now)
      network.deadlinesChanged()
      network.after(configuration.signalingDelay) { [weak self, unowned network] now in
        guard let self, let other = self.other else { return }
        accept(other, at: now)
        network.deadlinesChanged()
      }
    }
  }

  /// Takes the description of the other end, with the candidates that it has now.
  private func accept(_ other: SimulatedTransportPeer, at now: Instant) {
    transport.start(
      .init(
        ice: other.transport.ice.localParameters, fingerprint: other.certificate.fingerprint,
        localRole: isClient ? .client : .server), at: now)
    for candidate in other.transport.gathered where !candidate.isGone {
      transport.addRemoteCandidate(candidate.candidate, at: now)
    }
  }

  /// Sends a plain RTP packet of `size` bytes with this sequence number. Returns whether there was a way.
  @discardableResult
  public func send(_ number: UInt16, size: Int = 200) -> Bool {
    unsafe transport.sendRTP(capacity: max(size, 12)) { memory in
      for index in 0..<max(size, 12) { unsafe memory[index] = 0 }
      unsafe memory[0] = 0x80
      unsafe memory[1] = 96
      unsafe memory[2] = UInt8(number >> 8)
      unsafe memory[3] = UInt8(truncatingIfNeeded: number)
      unsafe memory[11] = 1
      return max(size, 12)
    }
  }

  public var isConnected: Bool { transport.state == .connected }

  /// The types of the selected pair's candidates, ours first; `nil` without a pair.
  public var selectedTypes: [ICECandidateType]? {
    transport.ice.selectedPair.map { [$0.localType, $0.remoteType] }
  }

  // MARK: Interfaces

  private func open(_ ip: IPAddress) -> TransportAddress {
    let base = network.freePort(on: ip)
    network.bind(self, to: base)
    return base
  }

  private func follow(added: [IPAddress], removed: [IPAddress]) {
    for base in bases where removed.contains(base.ip) {
      transport.removeBase(base, at: network.now)
      network.unbind(base)
    }
    bases.removeAll { removed.contains($0.ip) }
    for ip in added where host.addresses.contains(ip) && !bases.contains(where: { $0.ip == ip }) {
      let base = open(ip)
      bases.append(base)
      transport.addBase(base, at: network.now)
    }
  }

  // MARK: SimulatedEndpoint

  public func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    received.add(bytes.count, to: local)
    unsafe transport.receive(bytes, from: source, on: local, ecn: ecn, at: now)
  }

  public func poll(at now: Instant) {
    transport.poll(at: now)
    if transport.isWritable { session?.poll(at: now) }
  }

  public var nextDeadline: Instant? {
    transport.isWritable
      ? earliest(transport.nextDeadline, session?.nextDeadline) : transport.nextDeadline
  }

  // MARK: PeerTransportDelegate

  public func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    packetsReceived += 1
    lastPacketAt = now
    unsafe session?.receiveRTP(packet, ecn: transport.receivedECN, at: now)
    onPacket?(now)
  }

  public func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe session?.receiveRTCP(packet, at: now)
  }

  public func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    states.append((state, now))
  }

  public func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}

  public func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant
  ) {
    candidates.append(candidate)
    guard isSignalingUp else { return }
    network.after(configuration.signalingDelay) { [weak other] now in
      other?.transport.addRemoteCandidate(candidate, at: now)
    }
  }

  public func transportGatheringEnded(_ transport: PeerTransport, at now: Instant) {
    isGatheringOver = true
    network.after(configuration.signalingDelay) { [weak other] now in
      other?.transport.endOfRemoteCandidates(at: now)
    }
  }

  public func transport(_ transport: PeerTransport, needsAddressesOf name: String) {
    network.after(.milliseconds(20)) { [weak transport, unowned network] now in
      transport?.resolved(name, to: network.names[name] ?? [], at: now)
    }
  }
}

/// Counts what is sent, and breaks the cycle of a network that keeps its endpoints and their transports that send into it.
private final class CountingSink: DatagramSink {
  unowned let network: SimulatedNetwork
  private(set) var sent = SimulatedTransportPeer.Traffic()

  init(_ network: SimulatedNetwork) { self.network = network }

  func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    unsafe network.send(from: local, to: remote, ecn: ecn, capacity: capacity) { memory in
      let count = unsafe write(memory)
      if count > 0 { sent.add(count, to: remote) }
      return count
    }
  }
}
