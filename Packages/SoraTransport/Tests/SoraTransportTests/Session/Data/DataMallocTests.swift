import CSoraMallocCount
import SoraDTLS
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire
import Testing

/// Data channels through SCTP, DTLS and ICE, as a connection has them: whole, and without an allocation a packet.
@Suite struct DataMallocTests {
  /// One end: a transport with its channels, which counts what it gets and gives memory back.
  private final class End: SimulatedEndpoint, PeerTransportDelegate, DataTransportDelegate {
    let address: TransportAddress
    let transport: PeerTransport
    let data: DataTransport
    private(set) var channel: DataChannelID?
    private(set) var bytes = 0

    init(
      _ network: SimulatedNetwork, _ address: TransportAddress, certificate: DTLSCertificate,
      dtls: NativeDTLSFactory, isControlling: Bool, sink: RingSink
    ) {
      self.address = address
      transport = PeerTransport(
        configuration: PeerTransport.Configuration(
          ice: ICEAgent.Configuration(isControlling: isControlling), certificate: certificate,
          dtls: dtls),
        random: network.random.fork(), sink: sink)
      data = DataTransport(
        configuration: DataChannelConfiguration(), random: network.random.fork(),
        transport: transport)
      transport.delegate = self
      data.delegate = self
    }

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
      on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
    ) {
      transport.receive(bytes, from: source, on: local, at: now)
    }

    func poll(at now: Instant) {
      transport.poll(at: now)
      data.poll(at: now)
    }

    var nextDeadline: Instant? { earliest(transport.nextDeadline, data.nextDeadline) }

    func transport(_: PeerTransport, receivedRTP: UnsafeMutableRawBufferPointer, at: Instant) {}
    func transport(_: PeerTransport, receivedRTCP: UnsafeRawBufferPointer, at: Instant) {}
    func transport(_: PeerTransport, needsAddressOf: ICECandidate) {}
    func transport(_: PeerTransport, changedTo state: PeerTransportState, at now: Instant) {
      if state == .connected { data.transportChanged(at: now) }
    }
    func transport(
      _: PeerTransport, receivedData message: RawSpan, at now: Instant
    ) -> Bool {
      data.receive(message, at: now)
    }

    func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
      switch event {
      case .opened(let id, _), .announced(let id, _, _): channel = id
      case .message(_, let message):
        bytes += message.payload.count
        data.recycle(message.payload)
      default: break
      }
    }
  }

  @Test(.needsOptimizer, arguments: [DTLSVersion.v13, .v12])
  func aPacketCostsNoAllocation(version: DTLSVersion) throws {
    var dtls = NativeDTLSFactory()
    dtls.settings.versions = [version]
    let network = SimulatedNetwork(seed: 3)
    let hosts = ["10.0.0.1", "10.0.0.2"].map { network.addHost($0, $0) }
    network.link(hosts[0], hosts[1], LinkConditions(delay: .milliseconds(1)))
    let rings = [RingSink(network), RingSink(network)]
    let ends = try [true, false].enumerated().map { index, isControlling in
      let address = TransportAddress(ip: hosts[index].addresses[0], port: 5000)
      let end = End(
        network, address, certificate: try SimulationCertificate.make(UInt64(index)), dtls: dtls,
        isControlling: isControlling, sink: rings[index])
      network.bind(end, to: address)
      return end
    }
    let candidates = ends.map { $0.transport.addLocalCandidate($0.address) }
    for (index, end) in ends.enumerated() {
      let other = ends[1 - index]
      end.transport.addRemoteCandidate(candidates[1 - index], at: network.now)
      end.transport.start(
        PeerTransport.RemoteDescription(
          ice: other.transport.ice.localParameters,
          fingerprint: other.transport.certificate.fingerprint,
          localRole: index == 0 ? .client : .server),
        at: network.now)
      end.data.negotiated(
        DataTransport.Remote(isClient: index == 0, port: 5000, maximumMessageSize: 262_144),
        at: network.now)
    }
    _ = try ends[0].data.open(.init(label: "bulk"), at: network.now)
    #expect(network.run(until: { ends.allSatisfy { $0.channel != nil } }, within: .seconds(5)))
    let channel = try #require(ends[0].channel)
    network.run(for: .seconds(1))
    for ring in rings { ring.isKept = true }
    var now = network.now
    let message = [UInt8](repeating: 7, count: 60_000)
    // A type of its own for the loop would be no clearer: what it captures is on the heap before counting starts.
    func turn() throws {
      now += .microseconds(500)
      if ends[0].data.bufferedAmount(of: channel) < 500_000 {
        try ends[0].data.send(message.span.bytes, isText: false, on: channel, at: now)
      }
      rings[0].deliver(to: ends[1], at: now)
      rings[1].deliver(to: ends[0], at: now)
      ends[0].data.poll(at: now)
      ends[1].data.poll(at: now)
    }
    for _ in 0..<2000 { try turn() }
    let (mallocs, bytes) = (sora_malloc_count(), ends[1].bytes)
    for _ in 0..<2000 { try turn() }
    let count = sora_malloc_count() - mallocs
    let packets = (ends[1].bytes - bytes) / 1100
    print("\(version): \(packets) packets, \(count) allocations")
    #expect(packets > 20_000)
    if sora_malloc_count_is_on() != 0 { #expect(count == 0) }
    #expect(ends.allSatisfy { $0.data.report.drops.isEmpty })
  }
}
