import SoraDTLS
import SoraMedia
import Testing

/// Associations of this project's own DTLS once they stand.
@Suite struct NativeAssociationTests {
  private func connected(_ version: DTLSVersion) throws -> VirtualLink {
    let link = try makeLink(client: factory(version), server: factory(version))
    link.connect()
    link.run(for: .seconds(1))
    #expect(link.isConnected)
    return link
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func messagesKeepTheirBoundaries(version: DTLSVersion) throws {
    let link = try connected(version)
    let limit = try #require((link.server as? NativeDTLSEndpoint)?.maximumMessageCount)
    #expect(limit == (version == .v13 ? 1178 : 1163))
    let largest = [UInt8](repeating: 7, count: limit)
    try link.client.send([1, 2, 3], at: link.now)
    try link.client.send([0], at: link.now)
    try link.server.send(largest, at: link.now)
    link.run(for: .seconds(1))
    #expect(link.serverEvents.suffix(2) == [.applicationData([1, 2, 3]), .applicationData([0])])
    #expect(link.clientEvents.last == .applicationData(largest))
    #expect(link.largestDatagram == 1200)
    #expect(throws: DTLSError.messageTooLarge(count: limit + 1, limit: limit)) {
      try link.server.send(largest + [1], at: link.now)
    }
  }

  @Test(arguments: [DTLSVersion.v12, .v13], [true, false])
  func closingIsSeenByBothEnds(version: DTLSVersion, byClient: Bool) throws {
    let link = try connected(version)
    (byClient ? link.client : link.server).close(at: link.now)
    link.run(for: .seconds(1))
    #expect(link.clientEvents.filter { $0 == .closed }.count == 1)
    #expect(link.serverEvents.filter { $0 == .closed }.count == 1)
    #expect(throws: DTLSError.notConnected) { try link.client.send([1], at: link.now) }
    link.client.close(at: link.now)
    link.run(for: .seconds(1))
    #expect(link.clientEvents.filter { $0 == .closed }.count == 1)
  }

  @Test func closingDuringTheHandshakeTellsThePeer() throws {
    let link = try makeLink()
    link.start()
    link.client.close(at: link.now)
    link.run(for: .seconds(1))
    #expect(link.clientEvents == [.closed])
    #expect(link.serverFailure == .alertReceived(.closeNotify))
  }

  @Test func closingBeforeTheHandshakeIsQuiet() throws {
    let link = try makeLink()
    link.client.close(at: link.now)
    link.run(for: .seconds(1))
    #expect(link.clientEvents == [.closed])
    #expect(link.datagramCount == 0)
    #expect(link.client.nextDeadline == nil)
  }

  /// Many key changes of both ends, over a link that loses and reorders, with data all the time (RFC 9147 §8).
  @Test(arguments: 1...6)
  func keysAreUpdatedUnderLoss(seed: Int) throws {
    let link = try makeLink(
      client: factory(.v13), server: factory(.v13),
      conditions: VirtualLink.Conditions(jitter: .milliseconds(4), loss: 0.15), seed: UInt64(seed))
    link.connect()
    let client = try #require(link.client as? NativeDTLSEndpoint)
    let server = try #require(link.server as? NativeDTLSEndpoint)
    for round in 0..<60 {
      client.updateKeys(requestingPeer: round % 3 == 0, at: link.now)
      if round % 2 == 0 { server.updateKeys(requestingPeer: round % 4 == 0, at: link.now) }
      for value in 0..<5 as Range<UInt8> {
        try client.send([value], at: link.now)
        try server.send([value], at: link.now)
      }
      link.run(for: .milliseconds(200))
    }
    link.run(for: .seconds(20))
    // 300 messages each way, of which 15 % get lost; some arrive under keys that are gone.
    #expect(link.clientEvents.count > 200)
    #expect(link.serverEvents.count > 200)
    #expect(link.clientFailure == nil)
    #expect(link.serverFailure == nil)
    #expect(client.nextDeadline == nil)
    #expect(server.nextDeadline == nil)
    var arrived = false
    for _ in 0..<20 where !arrived {
      try client.send([200], at: link.now)
      link.run(for: .milliseconds(100))
      arrived = link.serverEvents.last == .applicationData([200])
    }
    #expect(arrived)
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func certificatesWithRSAKeysWork(version: DTLSVersion) throws {
    for isClient in [true, false] {
      let rsa = try RSACertificate.make()
      let link = try makeLink(
        client: factory(version), server: factory(version),
        clientCertificate: isClient ? rsa : nil, serverCertificate: isClient ? nil : rsa)
      link.connect()
      #expect(link.isConnected, "\(link.clientEvents) \(link.serverEvents)")
      if version == .v12, !isClient {
        #expect(link.clientSession?.cipherSuite == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
      }
    }
  }
}
