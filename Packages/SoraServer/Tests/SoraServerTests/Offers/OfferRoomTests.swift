import SoraDTLS
import SoraNetworkSimulator
import SoraServer
import SoraWire
import Testing

/// Who makes room for a client with an offer of its own.
struct OfferRoomTests {
  /// Nobody goes for one that may not be let in.
  @Test func nobodyGoesForWhoIsNotLetIn() throws {
    let network = SimulatedNetwork(seed: 79)
    let server = try TestServer(network) { $0.maximumConnections = 2 }
    let host = network.addHost("many", "10.0.1.1")
    let link = network.link(host, server.host, .ideal)
    let beginners = try (0..<2).map { number in
      let client = try ScriptedClient(
        "b\(number)", number, server, at: .init(host: host, link: link),
        port: 5000 + UInt16(number))
      client.answersOffers = false
      return client.connect(.sendrecv)
    }
    #expect(network.run(until: { beginners.allSatisfy { $0.offer != nil } }, within: .seconds(5)))
    let text = OfferTexts.both("sendonly").replacing("UFRAG", with: "ufrag")
      .replacing("PASSWORD", with: "0123456789012345678901")
      .replacing("FINGERPRINT", with: "\(try SimulationCertificate.make(9).fingerprint)")
    let offer = try SFUClientOffer(parsing: text, to: .publish)
    let message = offer.connect(channelID: "other", accessToken: nil, client: nil)
    let newcomer = ClientNetwork("10.0.9.9")
    let refused = try server.core.open(message, from: newcomer, at: network.now)
    server.core.refuse(refused.peer, reason: "ACCESS-TOKEN-INVALID", at: network.now)
    network.run(for: .milliseconds(100))
    #expect(beginners.allSatisfy { $0.closed == nil })
    #expect(server.core.status.count == 2)
    // For one that is, the oldest of those who have most does.
    let admitted = try server.core.open(message, from: newcomer, at: network.now)
    _ = try server.core.answer(offer, of: admitted, SFUGrant(), at: network.now)
    network.run(for: .milliseconds(100))
    #expect(beginners.map { $0.closed?.code } == [4490, nil])
    #expect(server.core.status.count == 2)
    // Where nobody would go, it hears so before anybody is asked about it.
    #expect(throws: SFUOfferError.self) {
      try server.core.open(message, from: newcomer, at: network.now)
    }
  }
}
