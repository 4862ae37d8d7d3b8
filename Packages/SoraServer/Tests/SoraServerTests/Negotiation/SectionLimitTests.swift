import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignalingMessages
import Testing

/// A channel may have more tracks than a description has room for.
struct SectionLimitTests {
  private let network = SimulatedNetwork(seed: 77)

  private func alive(_ viewer: ScriptedClient) -> Int {
    viewer.offers.last?.media.count { $0.port != 0 } ?? 0
  }

  /// What is too long for a client, or is answered with what is too long for the server, would end the connection.
  @Test func aTrackThatHasWaitedIsOfferedOnceThereIsRoom() throws {
    let server = try TestServer(network)
    let host = network.addHost("publishers", "10.0.2.1")
    let link = network.link(host, server.host, .ideal)
    var publishers = try (0..<130).map { number in
      try ScriptedClient(
        "p\(number)", 2 + number, server, at: .init(host: host, link: link),
        port: 5000 + UInt16(number)
      ).connect(.sendonly)
    }
    #expect(
      network.run(until: { publishers.allSatisfy(\.isConnected) }, within: .seconds(20)))
    let viewer = try ScriptedClient("viewer", 1, server).connect(.recvonly)
    #expect(network.run(until: { viewer.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(1))
    let first = alive(viewer)
    #expect((200..<260).contains(first))
    let waiting = 1 + 2 * publishers.count - first
    #expect(server.status(viewer)?.dropped.tooManySections == waiting)
    func leave(_ count: Int) {
      for publisher in publishers.prefix(count) { publisher.say(.disconnect(reason: nil)) }
      publishers.removeFirst(count)
      network.run(for: .seconds(1))
    }
    leave(1)
    // Its places are taken, and more may be: sections of audio are shorter.
    #expect((first...(first + 2)).contains(alive(viewer)))
    leave(24)
    #expect(alive(viewer) == 1 + 2 * publishers.count)
    #expect(server.status(viewer)?.dropped.tooManySections == waiting)
    #expect(viewer.closed == nil)
    for text in viewer.offers.map(\.text) + viewer.answers.map(\.text) {
      #expect(text.utf8.count <= SessionDescription.maximumSize)
      // As a message of a data channel.
      #expect(SignalingMessage.reOffer(ReOfferMessage(sdp: text)).bytes.count <= 256 * 1024)
    }
  }
}
