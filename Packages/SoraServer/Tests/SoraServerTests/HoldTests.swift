import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraTransport
import Testing

/// A subscriber that answers later offers with other directions.
struct HoldTests {
  private let network = SimulatedNetwork(seed: 17)

  /// Somebody joins, so that a subscriber is offered something, and this is its answer.
  private func answer(
    _ client: ScriptedClient, holding: Bool, because joining: ScriptedClient
  ) throws {
    client.answersOffers = false
    let known = client.offers.count
    joining.connect(.sendonly)
    #expect(network.run(until: { client.offers.count > known }, within: .seconds(5)))
    let fingerprint = try #require(client.answers.first?.media.first?.fingerprints.first)
    var (answer, _) = ScriptedAnswer(
      ice: client.transport.ice.localParameters,
      fingerprint: try DTLSFingerprint(parsing: fingerprint.description),
      version: UInt64(client.offers.count)
    ).answer(try #require(client.offers.last))
    for index in answer.media.indices where holding { answer.media[index].direction = .inactive }
    client.say(.reAnswer(sdp: answer.text))
    network.run(for: .milliseconds(300))
  }

  /// A long hold is longer than half of all sequence numbers: of an hour of audio or two minutes of video.
  @Test(arguments: [MediaKind.audio, .video])
  func whoResumesIsSentWhatComes(_ kind: MediaKind) throws {
    let server = try TestServer(network)
    let publisher = try ScriptedClient("publisher", 1, server).connect(.sendonly)
    let viewer = try ScriptedClient("viewer", 2, server).connect(.recvonly)
    #expect(network.connects([viewer], to: publisher))
    network.run(for: .milliseconds(200))
    func send(_ number: UInt16) {
      publisher.send(kind, sequence: number, timestamp: UInt32(number) * 10)
      network.run(for: .milliseconds(40))
    }
    send(100)
    #expect(viewer.packets(of: publisher, kind).media.count == 1)
    try answer(viewer, holding: true, because: ScriptedClient("guest", 3, server))
    send(20_100)
    send(40_100)
    #expect(viewer.packets(of: publisher, kind).media.count == 1)
    try answer(viewer, holding: false, because: ScriptedClient("another", 4, server))
    send(40_101)
    send(40_102)
    let packets = viewer.packets(of: publisher, kind).media
    // What their heads say of the order of frames goes on, too.
    func tail(_ payload: [UInt8]) -> [UInt8] { payload.suffix(190) }
    #expect(
      packets.map { tail($0.payload) }
        == [100, 40_101, 40_102].map { tail(ScriptedClient.payload($0)) })
    for (index, packet) in packets.enumerated() {
      #expect(packet.sequenceNumber == packets[0].sequenceNumber &+ UInt16(index))
    }
  }
}
