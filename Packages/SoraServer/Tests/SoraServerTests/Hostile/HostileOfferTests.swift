import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraTransport
import Testing

/// What publishers and players that keep to no rule do with their own offers. Beside each, others' media go on.
struct HostileOfferTests {
  private let network = SimulatedNetwork(seed: 63)

  @Test func offersBeyondTheLimitsHoldNothing() throws {
    let server = try TestServer(network) {
      $0.maximumPeers = 12
      $0.maximumConnections = 6
    }
    let others = try Bystanders(server)
    let offer = try SFUClientOffer(
      parsing: OfferingClient(1, server).offer(OfferTexts.both("sendonly")), to: .publish)
    var (refused, full, made) = (0, 0, 0)
    for round in 0..<500 {
      if round % 100 == 0 { others.exchange() }
      do throws(SFUOfferError) {
        let connect = offer.connect(channelID: "room", accessToken: nil, client: nil)
        let applicant = try server.core.open(connect, at: network.now)
        // Every other one is never decided about.
        if round % 2 == 0 { continue }
        _ = try server.core.answer(offer, of: applicant, SFUGrant(), at: network.now)
        made += 1
      } catch {
        switch error {
        case .full: full += 1
        case .refused(let reason):
          #expect(reason.hasPrefix("CONNECTION-LIMIT: "))
          refused += 1
        default: Issue.record("\(error)")
        }
      }
      #expect(server.core.holdings.clients <= 12 && server.core.holdings.connections <= 6)
    }
    network.deadlinesChanged()
    #expect(made == 4 && refused + full > 400)
    // None of them has a path.
    #expect(network.run(until: { server.core.status.count == 2 }, within: .seconds(60)))
    others.exchange()
  }

  @Test func fragmentsAreBoundedAndCounted() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let hostile = try OfferingClient(1, server)
    try hostile.post(OfferTexts.both("sendonly"), to: .publish)
    let id = try #require(hostile.made).connectionID
    #expect(network.run(until: { hostile.status?.isConnected == true }, within: .seconds(5)))
    let ufrag = hostile.transport.ice.localParameters.ufrag
    for round in 0..<40 {
      if round % 10 == 0 { others.exchange() }
      let candidates = (1...100).map {
        "a=candidate:1 1 udp 2 10.8.\(round).\($0) 9 typ host\r\n"
      }
      let text = "a=ice-ufrag:\(ufrag)\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n" + candidates.joined()
      let fragment = try SDPFragment(parsing: text)
      #expect(try server.core.receive(fragment, connectionID: id, at: network.now) == .taken)
    }
    let dropped = try #require(hostile.status).dropped
    #expect((3936...4000).contains(dropped.tooManyCandidates))
    // ICE that starts over again and again keeps two names, and its path.
    for round in 0..<50 {
      if round % 10 == 0 { others.exchange() }
      guard case .restarted? = try hostile.restart() else {
        Issue.record("ICE didn't start over")
        return
      }
    }
    network.run(for: .seconds(5))
    #expect(hostile.status?.isConnected == true)
    try hostile.send(.audio, sequence: 1)
    network.run(for: .milliseconds(100))
    #expect(hostile.status?.tracks.first { $0.kind == .audio }?.packets == 1)
    others.exchange()
  }
}
