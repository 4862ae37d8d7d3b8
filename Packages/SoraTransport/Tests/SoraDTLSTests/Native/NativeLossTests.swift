import SoraDTLS
import SoraMedia
import Testing

/// Handshakes over bad links, in virtual time: the same in every run.
@Suite struct NativeLossTests {
  private static let handshakes = 100

  /// Times until both ends are connected, in milliseconds, sorted.
  private func times(
    _ version: DTLSVersion, _ conditions: VirtualLink.Conditions, mtu: Int = 1200, count: Int
  ) throws -> (times: [Double], failures: Int) {
    let certificates = (try DTLSCertificate.generate(), try DTLSCertificate.generate())
    var times: [Double] = []
    var failures = 0
    for seed in 0..<count {
      let factory = factory(version, mtu: mtu)
      let link = try makeLink(
        client: factory, server: factory, clientCertificate: certificates.0,
        serverCertificate: certificates.1, conditions: conditions, seed: UInt64(seed))
      let start = link.now
      link.connect()
      guard link.isConnected, let client = link.clientConnected, let server = link.serverConnected
      else {
        failures += 1
        continue
      }
      #expect(link.clientSession?.localKeyingMaterial == link.serverSession?.remoteKeyingMaterial)
      times.append((max(client, server) - start).inMilliseconds)
    }
    return (times.sorted(), failures)
  }

  @Test(arguments: [DTLSVersion.v12, .v13], [1, 5, 10, 20, 40])
  func lossOnlyDelays(version: DTLSVersion, percent: Int) throws {
    var conditions = VirtualLink.Conditions()
    conditions.loss = Double(percent) / 100
    let (times, failures) = try times(version, conditions, count: Self.handshakes)
    #expect(failures == 0)
    let p50 = try #require(times.dropFirst(times.count / 2).first)
    let p95 = try #require(times.dropFirst(times.count * 95 / 100).first)
    print(
      "DTLS \(version == .v13 ? "1.3" : "1.2"), 20 ms round trip, \(percent) % loss:",
      "p50 \(p50) ms, p95 \(p95) ms, longest \(times.last ?? 0) ms")
    // 40 % each way loses two of three exchanges; timeouts of 50, 100, 200 ... ms add up.
    #expect(p95 < (percent < 40 ? 1_000 : 8_000))
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func reorderingAndDuplicationDoNoHarm(version: DTLSVersion) throws {
    var conditions = VirtualLink.Conditions()
    conditions.jitter = .milliseconds(30)
    conditions.duplication = 0.3
    conditions.loss = 0.05
    let (times, failures) = try times(version, conditions, mtu: 300, count: 60)
    #expect(failures == 0)
    #expect(times.last ?? .infinity < 3_000)
  }

  @Test(arguments: [DTLSVersion.v12, .v13], [300, 400, 576, 900, 1200, 1500])
  func flightsAreCutToTheMTU(version: DTLSVersion, mtu: Int) throws {
    let factory = factory(version, mtu: mtu)
    let link = try makeLink(client: factory, server: factory)
    link.connect()
    #expect(link.isConnected)
    #expect(link.largestDatagram <= mtu)
    #expect(link.largestDatagram > mtu / 2 || mtu > 1000)
    #expect((link.client as? NativeDTLSEndpoint)?.statistics.retransmissions == 0)
    #expect((link.server as? NativeDTLSEndpoint)?.statistics.retransmissions == 0)
    let other = try makeLink(
      client: factory, server: factory,
      conditions: VirtualLink.Conditions(jitter: .milliseconds(8), loss: 0.2), seed: UInt64(mtu))
    other.connect()
    #expect(other.isConnected)
  }

  /// Each of the first datagrams gets lost once, in turn.
  @Test(arguments: [DTLSVersion.v12, .v13], 0..<8)
  func losingOneDatagramCostsOneTimeout(version: DTLSVersion, lost: Int) throws {
    let factory = factory(version, mtu: 700)
    let link = try makeLink(client: factory, server: factory)
    var number = 0
    link.tamper = { datagram, _ in
      defer { number += 1 }
      return number == lost ? nil : datagram
    }
    let start = link.now
    link.connect()
    #expect(link.isConnected)
    let end = max(try #require(link.clientConnected), try #require(link.serverConnected))
    #expect(end - start <= .milliseconds(130))
    // Nothing is sent for ever.
    link.run(for: .seconds(30))
    #expect(link.client.nextDeadline == nil)
    #expect(link.server.nextDeadline == nil)
    #expect(link.datagramCount < 24)
  }

  /// A part of a flight that arrived isn't sent again (RFC 9147 §7.2).
  @Test func acknowledgedPartsAreNotSentAgain() throws {
    let factory = factory(.v13, mtu: 300)
    let link = try makeLink(client: factory, server: factory)
    var fromServer = 0
    var counts: [Int] = []
    link.tamper = { datagram, fromClient in
      if fromClient { return datagram }
      fromServer += 1
      counts.append(datagram.count)
      return fromServer == 2 ? nil : datagram
    }
    link.connect()
    #expect(link.isConnected)
    let statistics = try #require((link.server as? NativeDTLSEndpoint)?.statistics)
    #expect(statistics.retransmissions == 1)
    let flight = counts.prefix(while: { $0 > 0 }).reduce(0, +)
    #expect(counts.count >= 4)
    // The repeated part is one datagram's worth, beside the flight and small acknowledgements.
    #expect(flight < 1500, "\(counts)")
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func aSilentPeerGetsLongerAndLongerPausesAndAnEnd(version: DTLSVersion) throws {
    let factory = factory(version)
    let link = try makeLink(client: factory, server: factory)
    var sent: [Duration] = []
    let start = link.now
    link.tamper = { [unowned link] _, _ in
      sent.append(link.now - start)
      return nil
    }
    link.connect(for: .seconds(100))
    #expect(link.clientFailure == .timedOut)
    #expect(
      sent.prefix(5) == [
        .zero, .milliseconds(50), .milliseconds(150), .milliseconds(350), .milliseconds(750),
      ])
    #expect(sent.count == 21)
    #expect(link.now - start < .seconds(30))
    #expect(link.serverFailure == nil)
  }

  /// A path whose round trip is longer than the first timeout costs the repetitions of one flight, not of each.
  @Test(arguments: [DTLSVersion.v12, .v13])
  func aLongPathIsLearned(version: DTLSVersion) throws {
    let factory = factory(version)
    let link = try makeLink(
      client: factory, server: factory,
      conditions: VirtualLink.Conditions(delay: .milliseconds(150)))
    link.connect()
    link.run(for: .seconds(5))
    #expect(link.isConnected)
    let client = try #require((link.client as? NativeDTLSEndpoint)?.statistics)
    let server = try #require((link.server as? NativeDTLSEndpoint)?.statistics)
    #expect(client.retransmissions + server.retransmissions <= 10)
  }
}
