import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import Testing

/// What leaves for a subscriber, and what doesn't.
struct DownlinkTests {
  private let network = SimulatedNetwork(seed: 83)

  private func client(_ name: String, _ number: Int, _ server: TestServer) throws -> ScriptedClient
  {
    try ScriptedClient(name, number, server)
  }

  private func limit(_ client: ScriptedClient, bitsPerSecond: UInt64) {
    client.sendRTCP {
      try $0.receiverEstimate(sender: 1, bitsPerSecond: bitsPerSecond, sources: [])
    }
    network.run(for: .milliseconds(30))
  }

  /// What waits for a narrow link goes with its publisher: others don't wait behind what nobody is sent.
  @Test func whoLeavesHoldsUpNobody() throws {
    let server = try TestServer(network)
    let leaver = try client("leaver", 1, server).connect(.sendonly)
    let other = try client("other", 2, server).connect(.sendonly)
    let viewer = try client("viewer", 3, server).connect(.recvonly)
    #expect(network.connects([viewer], to: leaver) && network.connects([viewer], to: other))
    network.run(for: .milliseconds(200))
    var number: UInt16 = 0
    /// A key frame of VP8.
    func send(_ client: ScriptedClient, packets: Int = 1, count: Int) {
      let head: [UInt8] = [0x10, 0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0]
      let timestamp = UInt32(number) * 3000
      for index in 0..<packets {
        let payload = (index == 0 ? head : [0]) + [UInt8](repeating: 0, count: count)
        client.send(
          .video, sequence: number, timestamp: timestamp, marker: index == packets - 1,
          payload: payload)
        number += 1
      }
    }
    limit(viewer, bitsPerSecond: 60_000)
    for _ in 0..<30 {
      for client in [leaver, other] { send(client, count: 150) }
      network.run(for: .milliseconds(33))
    }
    // A frame that takes the link two thirds of a second; a part of it has left when its publisher goes.
    send(leaver, packets: 5, count: 1000)
    network.run(for: .milliseconds(20))
    leaver.loseSignaling()
    #expect(viewer.packets(of: other, .video).media.count < 30)
    send(other, count: 40)
    network.run(for: .milliseconds(200))
    // All that it has sent.
    #expect(viewer.packets(of: other, .video).media.count == 31)
  }

  /// Who hasn't agreed to retransmissions is sent none to fill probes, either.
  @Test(arguments: [true, false]) func probesAreFilledWithWhatWasAgreedOn(_ isAgreed: Bool) throws {
    let server = try TestServer(network)
    let publisher = try client("publisher", 1, server).connect(.sendonly)
    let viewer = try client("viewer", 2, server)
    if !isAgreed { viewer.refusedFormats = ["rtx"] }
    viewer.connect(.recvonly)
    #expect(network.connects([viewer], to: publisher))
    network.run(for: .milliseconds(200))
    for number in 0..<100 as Range<UInt16> {
      publisher.send(
        .video, sequence: number, timestamp: UInt32(number) * 3000, payloadCount: 900)
      if number == 20 { limit(viewer, bitsPerSecond: 5_000_000) }
      network.run(for: .milliseconds(33))
    }
    #expect(viewer.packets(of: publisher, .video).media.count == 100)
    #expect(viewer.packets(of: publisher, .video).rtx.isEmpty != isAgreed)
  }

  /// However often a layer's source is followed by another: its packets aren't taken for another layer's.
  @Test func aLayerOfManySourcesIsItself() throws {
    let server = try TestServer(network)
    let publisher = try client("publisher", 1, server)
      .connect(.sendonly) { $0.simulcast = true }
    let viewer = try client("viewer", 2, server)
      .connect(.recvonly) { $0.simulcastRequestRid = .r1 }
    #expect(network.connects([viewer], to: publisher))
    network.run(for: .milliseconds(200))
    let head: [UInt8] = [0x10, 0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0]
    func send(_ layer: UInt8, _ frame: UInt16, ssrc: UInt32) {
      publisher.send(
        .video, sequence: frame, timestamp: UInt32(frame) * 3000, ssrc: ssrc,
        rid: "r\(layer)", payload: head + [UInt8](repeating: layer, count: 40))
    }
    for frame in 0..<300 as Range<UInt16> {
      send(0, frame, ssrc: 11)
      send(1, frame, ssrc: 1000 + UInt32(frame))
      network.run(for: .milliseconds(33))
    }
    #expect(server.status(viewer)?.subscriptions.first { $0.kind == .video }?.rid == "r1")
    let latest = viewer.packets(of: publisher, .video).media.suffix(200)
    #expect(latest.count == 200 && latest.allSatisfy { $0.payload.last == 1 })
    let subscription = server.status(viewer)?.subscriptions.first { $0.kind == .video }
    #expect(subscription?.overtaken == 0)
  }

  /// Nor do the sources of retransmissions that came with them fill what is known of sources.
  @Test func sourcesOfRetransmissionsGiveWay() throws {
    let server = try TestServer(network)
    let publisher = try client("publisher", 1, server).connect(.sendonly)
    let viewer = try client("viewer", 2, server).connect(.recvonly)
    #expect(network.connects([viewer], to: publisher))
    network.run(for: .milliseconds(200))
    for source in 0..<100 as Range<UInt16> {
      for index in 0..<3 as Range<UInt16> {
        let number = source * 3 + index
        publisher.send(
          .video, sequence: number, timestamp: UInt32(number) * 3000,
          ssrc: 10_000 + UInt32(source), losing: index == 1)
        network.run(for: .milliseconds(5))
      }
      network.run(for: .milliseconds(100))
    }
    #expect(server.status(publisher)?.dropped.tooManySources == 0)
    #expect(viewer.packets(of: publisher, .video).media.count == 300)
  }
}
