import SoraDTLS
import SoraMedia
import Testing

@Suite struct AssociationTests {
  @Test func messagesKeepTheirBoundaries() throws {
    let pair = try makePair()
    pair.start()
    try pair.client.send([1, 2, 3], at: pair.now)
    try pair.client.send([4], at: pair.now)
    let endpoint = try #require(pair.server as? OpenSSLDTLSEndpoint)
    let largest = [UInt8](repeating: 7, count: endpoint.maximumMessageCount)
    #expect(largest.count > 1100)
    try pair.server.send(largest, at: pair.now)
    pair.exchange()
    #expect(pair.serverEvents.suffix(2) == [.applicationData([1, 2, 3]), .applicationData([4])])
    #expect(pair.clientEvents.last == .applicationData(largest))
    #expect(pair.largestDatagram <= OpenSSLDTLSFactory.mtu)
  }

  @Test func aMessageBeyondADatagramIsRefused() throws {
    let pair = try makePair()
    #expect(throws: DTLSError.notConnected) { try pair.client.send([1], at: pair.now) }
    pair.start()
    let endpoint = try #require(pair.client as? OpenSSLDTLSEndpoint)
    let limit = endpoint.maximumMessageCount
    #expect(throws: DTLSError.messageTooLarge(count: limit + 1, limit: limit)) {
      try pair.client.send([UInt8](repeating: 0, count: limit + 1), at: pair.now)
    }
    #expect(limit > 0)
  }

  @Test func closingIsSeenByBothEnds() throws {
    let pair = try makePair()
    pair.start()
    pair.client.close(at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.last == .closed)
    #expect(pair.serverEvents.last == .closed)
    #expect(pair.clientEvents.filter { $0 == .closed }.count == 1)
    #expect(pair.serverEvents.filter { $0 == .closed }.count == 1)
    #expect(throws: DTLSError.notConnected) { try pair.server.send([1], at: pair.now) }
    pair.server.close(at: pair.now)
    pair.exchange()
    #expect(pair.serverEvents.filter { $0 == .closed }.count == 1)
  }

  @Test func closingBeforeTheHandshakeIsQuiet() throws {
    let pair = try makePair()
    pair.client.close(at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents == [.closed])
    #expect(pair.client.nextDeadline == nil)
  }
}
