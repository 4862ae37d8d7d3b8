import SoraDTLS
import SoraMedia
import Testing

/// What is dropped is counted under its reason, and under no other.
@Suite struct DropReasonTests {
  private typealias Reason = WritableKeyPath<DTLSStatistics.Dropped, Int>

  /// Gives bytes to an endpoint: exactly this counter moves, or none.
  private func expect(
    _ reason: Reason?, _ bytes: [UInt8], to endpoint: any DTLSEndpoint, at now: Instant,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var expected = endpoint.statistics.dropped
    if let reason { expected[keyPath: reason] += 1 }
    bytes.withUnsafeBytes { endpoint.receive($0, at: now) }
    #expect(endpoint.statistics.dropped == expected, sourceLocation: sourceLocation)
  }

  /// A record in clear of DTLS 1.2's form (RFC 6347 §4.1) with a handshake message (§4.2.2).
  private func handshake(
    type: UInt8, sequence: UInt8, epoch: UInt8 = 0, length: UInt8 = 0
  ) -> [UInt8] {
    [22, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 99, 0, 12]
      + [type, 0, 0, length, 0, sequence, 0, 0, 0, 0, 0, 0]
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func recordsOfAnAssociation(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    link.connect()
    link.run(for: .seconds(1))
    #expect(link.isConnected)
    var sent: [UInt8] = []
    link.tamper = { datagram, fromClient in
      guard fromClient else { return datagram }
      sent = datagram
      return nil
    }
    try link.client.send([1, 2, 3], at: link.now)
    link.collect()
    var forged = sent
    forged[forged.count - 1] ^= 1
    let (server, now) = (link.server, link.now)
    expect(\.unauthenticated, forged, to: server, at: now)
    expect(nil, sent, to: server, at: now)
    link.collect()
    #expect(link.serverEvents.last == .applicationData([1, 2, 3]))
    expect(\.replayed, sent, to: server, at: now)
    expect(\.malformed, [22, 0xFE, 0xFD, 1], to: server, at: now)
    expect(\.malformed, [22] + [UInt8](repeating: 0x99, count: 100), to: server, at: now)
    expect(\.unexpected, handshake(type: 1, sequence: 0), to: server, at: now)
    // An alert in clear, which anybody can send.
    expect(
      \.unexpected, [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40], to: server, at: now)
    let otherEpoch =
      version == .v12
      ? handshake(type: 1, sequence: 0, epoch: 7)
      : [0x2D, 0, 9, 0, 32] + [UInt8](repeating: 5, count: 32)
    expect(\.withoutKeys, otherEpoch, to: server, at: now)
    server.close(at: now)
    expect(\.outOfTurn, sent, to: server, at: now)
    #expect(server.statistics.dropped.total == 8)
    #expect(server.statistics.tlsVersion == version.rawValue)
  }

  @Test func whatComesBeforeOrOutOfPlace() throws {
    let link = try makeLink()
    expect(\.outOfTurn, handshake(type: 2, sequence: 0), to: link.client, at: link.now)
    // Far ahead of what is awaited, and larger than any message.
    expect(\.unusableFragments, handshake(type: 1, sequence: 50), to: link.server, at: link.now)
    expect(\.unexpected, handshake(type: 20, sequence: 1), to: link.server, at: link.now)
  }

  @Test func libsslTellsWhatItKnows() throws {
    let pair = try makePair()
    expect(\.malformed, [22, 0], to: pair.client, at: pair.now)
    expect(\.outOfTurn, handshake(type: 2, sequence: 0), to: pair.client, at: pair.now)
    pair.start()
    pair.run { $0.isConnected }
    for end in [pair.client, pair.server] {
      #expect(end.statistics.tlsVersion == 0xFEFD)
      #expect(end.statistics.cipherSuite == pair.clientSession?.cipherSuite)
      #expect(end.statistics.srtpProfile == pair.clientSession?.profile.name)
      #expect(try #require(end.statistics.handshakeDuration) > .zero)
    }
    #expect(pair.client.statistics.role == .client && pair.server.statistics.role == .server)
  }
}
