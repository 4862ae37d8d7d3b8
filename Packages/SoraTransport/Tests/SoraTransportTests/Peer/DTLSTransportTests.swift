import SoraDTLS
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire
import Testing

/// DTLS over a path that comes late, goes, and comes back.
@Suite struct DTLSTransportTests {
  private let certificate: DTLSCertificate
  private let random = RandomSource(seed: 1)

  init() throws { certificate = try SimulationCertificate.make(1) }

  private func makeTransport() -> DTLSTransport {
    DTLSTransport(
      factory: StandInDTLSFactory(), certificate: certificate, handshakeTimeout: .seconds(15),
      random: random)
  }

  private func begin(_ transport: inout DTLSTransport, at now: Instant = .zero) throws {
    try transport.begin(as: .server, expecting: certificate.fingerprint, at: now)
  }

  private func takes(_ datagram: [UInt8], _ transport: inout DTLSTransport) -> Bool {
    var copy = datagram
    var span = copy.mutableSpan
    var bytes = span.mutableBytes
    if case .dropped = transport.receive(&bytes, at: .zero) { return false }
    return true
  }

  @Test func aFlightFromBeforeThePathIsAnswered() throws {
    let client = try StandInDTLSFactory().makeEndpoint(
      role: .client, certificate: certificate, expectedFingerprint: certificate.fingerprint,
      random: random)
    client.start(at: .zero)
    let hello = try #require(client.nextTransmit())

    var late = makeTransport()
    try begin(&late)
    #expect(late.nextTransmit() == nil)

    var early = makeTransport()
    let isKept = takes(hello, &early)
    #expect(isKept && early.nextTransmit() == nil && early.state == .new)
    try begin(&early)
    #expect(early.nextTransmit() != nil && early.state == .connecting)
  }

  @Test func littleIsKeptBeforeThePath() {
    var transport = makeTransport()
    let datagram = [UInt8](repeating: 22, count: 100)
    var kept = 0
    for _ in 0..<20 where takes(datagram, &transport) { kept += 1 }
    #expect(kept == 8)
    #expect(transport.end(as: .closed) == 8)
    let isKept = takes(datagram, &transport)
    #expect(!isKept && transport.state == .closed && transport.statistics == nil)
  }

  @Test func theHandshakesTimeRunsWithAPathOnly() throws {
    var transport = makeTransport()
    let start = Instant.zero
    transport.pathFound(at: start)
    #expect(transport.handshakeDeadline == nil)
    try begin(&transport, at: start)
    #expect(transport.handshakeDeadline == start + .seconds(15))
    transport.pathFound(at: start + .seconds(1))
    #expect(transport.handshakeDeadline == start + .seconds(15))
    transport.pathLost()
    #expect(transport.handshakeDeadline == nil)
    transport.pathFound(at: start + .seconds(20))
    #expect(transport.handshakeDeadline == start + .seconds(35))
    #expect(transport.end(as: .failed) == 0)
    #expect(transport.handshakeDeadline == nil && transport.statistics?.role == .server)
  }

  @Test func mediaBeforeTheKeysIsKeptInItsOrder() {
    var transport = SRTPTransport()
    var kept = 0
    for index in 0..<UInt8(40) {
      if transport.keep([128, index].rawSpan) { kept += 1 }
    }
    #expect(kept == 32)
    #expect(transport.takeEarly() == (0..<32).map { [128, $0] })
    let isKept = transport.keep([128, 0].rawSpan)
    let isTooLargeKept = transport.keep([UInt8](repeating: 128, count: 2049).rawSpan)
    #expect(isKept && !isTooLargeKept && transport.end() == 1)
  }
}
