import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// What is known of the sources that a client is sent.
struct SentSourceTests {
  /// A viewer that stays for weeks meets thousands of publishers. Of those that have gone nothing is kept, for which no source may come again.
  @Test func nothingIsKeptOfSourcesThatHaveEnded() throws {
    let network = SimulatedNetwork(seed: 23)
    let server = try TestServer(network)
    let viewer = try ScriptedClient("viewer", 1, server).connect(.recvonly)
    var sources: [UInt32] = []
    var held: [Int] = []
    for number in 0..<12 {
      let publisher = try ScriptedClient("guest \(number)", 2 + number, server).connect(.sendonly)
      #expect(network.connects([viewer], to: publisher))
      network.run(for: .milliseconds(500))
      for number in 1...20 as ClosedRange<UInt16> {
        publisher.send(.video, sequence: number, timestamp: UInt32(number) * 3000)
        publisher.send(.audio, sequence: number, timestamp: UInt32(number) * 960)
        network.run(for: .milliseconds(100))
      }
      #expect(viewer.packets(of: publisher, .video).media.count == 20)
      sources += [MediaKind.audio, .video].compactMap { viewer.ssrc(of: publisher, $0) }
      held.append(server.core.holdings.sentSources)
      publisher.say(.disconnect(reason: "NO-ERROR"))
      #expect(
        network.run(
          until: { viewer.sections(of: publisher, .video).isEmpty }, within: .seconds(5)))
      network.run(for: .seconds(5))
    }
    #expect(sources.count == 24 && Set(sources).count == 24)
    #expect(held.allSatisfy { $0 == held[0] }, "\(held)")
    // The one that reports come from.
    #expect(server.core.holdings.sentSources == 1)
  }

  @Test func noSourceIsGivenOutTwice() {
    let random = RandomSource(seed: 5)
    var allocator = SSRCAllocator()
    let sources = Set((0..<200_000).map { _ in allocator.take(random) })
    #expect(sources.count == 200_000)
    // They are spread over all that there are.
    #expect(Set(sources.map { $0 >> 24 }).count == 256)
  }
}
