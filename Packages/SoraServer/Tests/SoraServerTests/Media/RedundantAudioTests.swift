import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraSignalingMessages
import Testing

/// Redundant audio (RFC 2198) on its way through the server.
struct RedundantAudioTests {
  private let network = SimulatedNetwork(seed: 2198)

  /// A payload of RED: copies of earlier packets, and the newest.
  private static func payload(
    _ type: UInt8, older: [[UInt8]], newest: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, block) in older.enumerated() {
      let offset = 960 * (older.count - index)
      let word = UInt32(offset) << 10 | UInt32(block.count)
      bytes += [
        0x80 | type, UInt8(word >> 16), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF),
      ]
    }
    return bytes + [type] + older.joined() + newest
  }

  private static func block(_ number: UInt16) -> [UInt8] { ScriptedClient.payload(number, 40) }

  @Test func whoTakesRedundancyGetsItAndOthersTheNewestBlock() throws {
    let server = try TestServer(network)
    let publisher = try ScriptedClient("publisher", 1, server).connect(.sendonly)
    let taker = try ScriptedClient("taker", 2, server)
    let other = try ScriptedClient("other", 3, server)
    other.refusedFormats = ["red"]
    for client in [taker, other] { client.connect(.recvonly) }
    let isThere = network.run(
      until: {
        !taker.sections(of: publisher, .audio).isEmpty
          && !other.sections(of: publisher, .audio).isEmpty
      }, within: .seconds(5))
    #expect(isThere)
    network.run(for: .milliseconds(500))
    let offered = try #require(publisher.offers.first?.media.first { $0.kind == "audio" })
    #expect(offered.codecs.map(\.name) == ["opus", "red", "telephone-event"])
    let (opus, red) = (offered.codecs[0].payloadType, offered.codecs[1].payloadType)
    #expect(offered.codecs[1].redundantPayloadTypes == [opus, opus])

    for number in 0..<20 as Range<UInt16> {
      let older = number == 0 ? [] : [Self.block(number - 1)]
      publisher.send(
        .audio, sequence: number, timestamp: UInt32(number) * 960,
        payload: Self.payload(opus, older: older, newest: Self.block(number)), format: "red")
      network.run(for: .milliseconds(20))
    }
    network.run(for: .milliseconds(200))
    let whole = taker.packets(of: publisher, .audio).media
    #expect(whole.count == 20 && whole.allSatisfy { $0.payloadType == red })
    #expect(
      whole.last?.payload == Self.payload(opus, older: [Self.block(18)], newest: Self.block(19)))
    let plain = other.packets(of: publisher, .audio).media
    #expect(plain.map(\.payload) == (0..<20).map(Self.block))
    #expect(plain.allSatisfy { $0.payloadType == opus && $0.level == 30 })
    for (one, next) in zip(plain, plain.dropFirst()) {
      #expect(next.sequenceNumber == one.sequenceNumber &+ 1)
      #expect(next.timestamp == one.timestamp &+ 960)
    }
  }

  /// What can't be read as blocks is of no use to who takes none, and harms nobody.
  @Test func brokenBlocksGoToNobodyWhoTakesNone() throws {
    let server = try TestServer(network)
    let publisher = try ScriptedClient("publisher", 1, server).connect(.sendonly)
    let other = try ScriptedClient("other", 2, server)
    other.refusedFormats = ["red"]
    other.connect(.recvonly)
    let isThere = network.run(
      until: { !other.sections(of: publisher, .audio).isEmpty }, within: .seconds(5))
    #expect(isThere)
    network.run(for: .milliseconds(500))
    let broken: [[UInt8]] = [
      [], [0x80 | 109], [0x80 | 109, 0, 0, 255, 109, 1], [0x80 | 109, 0xFF, 0xFF, 0xFF, 109],
      // Of another codec.
      [100, 1, 2, 3], [UInt8](repeating: 0xFF, count: 200),
    ]
    for (number, payload) in broken.enumerated() {
      publisher.send(
        .audio, sequence: UInt16(number), timestamp: UInt32(number) * 960, payload: payload,
        format: "red")
    }
    publisher.send(.audio, sequence: 50, timestamp: 50 * 960)
    network.deadlinesChanged()
    network.run(for: .milliseconds(500))
    #expect(
      other.packets(of: publisher, .audio).media.map(\.payload) == [ScriptedClient.payload(50)])
    #expect(publisher.closed == nil && other.closed == nil)
  }
}
