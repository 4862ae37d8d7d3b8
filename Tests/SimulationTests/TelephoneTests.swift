import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing
import WebRTC

/// Keys of a telephone (RFC 4733) through the server.
@Suite struct TelephoneTests {
  private static let keys = "0123456789*#ABCD"

  /// A publisher presses all keys; one player takes them, and another takes audio alone.
  @Test(arguments: ["OPUS", "PCMU", "PCMA"])
  func keysGoOnToWhoTakesThem(_ codec: String) throws {
    let network = SimulatedNetwork(seed: 4733)
    let room = try Room(network, network.addHost("server", "10.0.0.1"))
    let link = LinkConditions(delay: .milliseconds(20), jitter: .milliseconds(5), loss: 0.05)
    let publisher = try room.join("publisher", 1, role: .sendonly, link) {
      $0.audio = .options(AudioOptions { $0.codecType = codec })
    }
    let player = try room.join("player", 2, role: .recvonly, link)
    let deaf = try room.join(
      "deaf", 3, role: .recvonly, link,
      // Their payload types are the last of a section.
      edit: { $0.replacing(" 118\r\n", with: "\r\n").replacing(" 119\r\n", with: "\r\n") })
    publisher.startMedia()
    network.run(for: .seconds(3))
    #expect(publisher.press(Self.keys))
    network.run(for: .seconds(8))

    let events = player.keysReceived
    #expect(events.count == 32)
    #expect(String(events.filter(\.isEnd).compactMap(\.tone)) == Self.keys)
    #expect(events.filter(\.isEnd).allSatisfy { $0.duration == .milliseconds(100) })
    #expect(deaf.keysReceived.isEmpty)
    // While a key sounds there is no audio, for a sixth of the time.
    for listener in [player, deaf] {
      let audio = listener.reception.values.reduce(0) { $0 + $1.audioPackets }
      #expect((380...500).contains(audio), "\(listener.name) heard \(audio) packets")
      #expect(listener.reception.values.contains { $0.frames > 200 })
    }
    #expect([publisher, player, deaf].allSatisfy { $0.errors.isEmpty })
  }
}
