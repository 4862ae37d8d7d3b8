import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import Testing

/// Dependency descriptors on their way from a publisher to subscribers, packet by packet in virtual time.
@Suite struct DescriptorForwardingTests {
  static let codecs = ["VP9", "AV1", "H264", "H265"]

  /// A publisher and a subscriber, who begins with the middle layer where there are some.
  private struct Call {
    let network = SimulatedNetwork(seed: 31)
    let server: TestServer
    let publisher: ScriptedClient
    let viewer: ScriptedClient

    init(
      _ codec: String, layers: Bool = false, publisher prepare: (ScriptedClient) -> Void = { _ in },
      viewer prepareViewer: (ScriptedClient) -> Void = { _ in }
    ) throws {
      server = try TestServer(network)
      publisher = try ScriptedClient("publisher", 1, server)
      prepare(publisher)
      publisher.connect(.sendonly, video: codec) { $0.simulcast = layers }
      viewer = try ScriptedClient("viewer", 2, server)
      prepareViewer(viewer)
      viewer.connect(.recvonly) { if layers { $0.simulcastRequestRid = .r1 } }
      let (publisher, viewer) = (publisher, viewer)
      #expect(
        network.run(
          until: { viewer.isConnected && viewer.sections(of: publisher, .video).count == 1 },
          within: .seconds(5)))
      network.run(for: .milliseconds(200))
    }

    /// Sends a frame of one packet of AV1.
    func send(
      _ number: UInt16, _ descriptor: [UInt8], ssrc: UInt32 = 11, rid: String? = nil,
      isKey: Bool = false, size: Int = 50, losing: Bool = false
    ) {
      publisher.send(
        .video, sequence: number, timestamp: UInt32(number) * 3000, ssrc: ssrc, rid: rid,
        payload: (isKey ? [0x18, 0x08, 1, 2, 3] : [0x10, 0x30, 1, 2, 3])
          + [UInt8](repeating: 7, count: size), descriptor: descriptor, losing: losing)
      network.run(for: .milliseconds(33))
    }

    var packets: [ScriptedClient.Packet] { viewer.packets(of: publisher, .video).media }

    func lists(_ kind: RTPHeaderExtensionKind, _ section: MediaDescription) -> Bool {
      section.extensions.contains { $0.uri == kind.uri }
    }
  }

  /// Bytes that a descriptor could have, with a frame's number.
  private func descriptor(_ number: UInt16, count: Int) -> [UInt8] {
    [0xC0, UInt8(number >> 8), UInt8(number & 255)]
      + (3..<count).map { UInt8(truncatingIfNeeded: $0 * 5) }
  }

  @Test(arguments: ["VP8"] + codecs, [false, true])
  func bothSidesAreOffered(codec: String, layers: Bool) throws {
    let call = try Call(codec, layers: layers)
    let mid = try #require(call.publisher.offer?.mid?["video"])
    let sent = try #require(call.publisher.offers[0].media.first { $0.mid == mid })
    let received = try #require(call.viewer.sections(of: call.publisher, .video).first)
    #expect(call.lists(.dependencyDescriptor, sent) == (codec != "VP8"))
    #expect(call.lists(.dependencyDescriptor, received) == (codec != "VP8"))
    for media in call.viewer.offers.last!.media where media.kind == "audio" {
      #expect(!call.lists(.dependencyDescriptor, media))
    }
  }

  /// Of whatever length, as it came; but what can't be one is left out, and the packet goes on.
  @Test(arguments: [0, 1, 2, 3, 4, 16, 17, 100, 255])
  func theBytesGoOn(count: Int) throws {
    let call = try Call("AV1")
    let sent = Array(descriptor(0x1234, count: max(3, count)).prefix(count))
    call.send(1, sent, isKey: true)
    call.send(2, [0x80, 0x12, 0x35])
    #expect(call.packets.map(\.descriptor) == [count < 3 ? nil : sent, [0x80, 0x12, 0x35]])
    #expect(call.packets.map(\.payload.count) == [55, 55])
    #expect(call.packets.allSatisfy { $0.hasTransportNumber && $0.orientation == .clockwise90 })
  }

  @Test func aLongPacketHasRoomForALongOne() throws {
    let call = try Call("AV1")
    call.send(1, descriptor(1, count: 200), isKey: true, size: 1150)
    #expect(call.packets.map(\.payload.count) == [1155])
    #expect(call.packets.first?.descriptor == descriptor(1, count: 200))
  }

  @Test func whoDoesNotTakeThemGetsNone() throws {
    for isRefused in [true, false] {
      let call = try Call(
        "AV1",
        viewer: {
          if isRefused {
            $0.refusedExtensions = [.dependencyDescriptor]
          } else {
            $0.allowsMixedExtensions = false
          }
        })
      call.send(1, descriptor(1, count: 60), isKey: true)
      call.send(2, descriptor(2, count: 3))
      #expect(call.packets.map(\.descriptor) == [nil, nil])
    }
    let plain = try Call("AV1", publisher: { $0.refusedExtensions = [.dependencyDescriptor] })
    plain.send(1, [], isKey: true)
    #expect(plain.packets.map(\.descriptor) == [nil])
  }

  /// A packet that is sent again has what it had the first time, before and after a change of the layer; and so has one that
  /// came to the server as a retransmission.
  @Test func whatIsSentAgainHasItToo() throws {
    let call = try Call("AV1", layers: true)
    let keys = [descriptor(65_534, count: 90), descriptor(300, count: 70)]
    call.send(1, keys[1], ssrc: 12, rid: "r1", isKey: true)
    call.send(2, descriptor(302, count: 3), ssrc: 12, rid: "r1")
    // This one comes late.
    call.send(3, descriptor(303, count: 5), ssrc: 12, rid: "r1", losing: true)
    call.send(4, descriptor(304, count: 3), ssrc: 12, rid: "r1")
    call.network.run(for: .milliseconds(300))
    #expect(call.publisher.nacked == [3])
    let before = call.packets
    #expect(
      before.map(\.descriptor) == [
        keys[1], descriptor(302, count: 3), descriptor(304, count: 3), descriptor(303, count: 5),
      ])
    #expect(
      call.server.core.requestSimulcastRid(
        .r0, channelID: "room", receiver: call.viewer.offer!.connectionID,
        sender: call.publisher.offer!.connectionID, at: call.network.now))
    call.network.deadlinesChanged()
    call.send(5, descriptor(65_533, count: 3), ssrc: 11, rid: "r0")
    call.send(6, keys[0], ssrc: 11, rid: "r0", isKey: true)
    call.send(7, descriptor(65_535, count: 4), ssrc: 11, rid: "r0")
    call.send(8, descriptor(2, count: 3), ssrc: 11, rid: "r0")
    // The first frame of the lower layer is the next one; what was left out behind it leaves its gap.
    let after = call.packets.dropFirst(4)
    let expected = [(305, 90), (306, 4), (309, 3)] as [(UInt16, Int)]
    #expect(after.map(\.descriptor) == expected.map { descriptor($0, count: $1) })
    // All of it is asked for.
    let ssrc = try #require(call.viewer.ssrc(of: call.publisher, .video))
    let numbers = call.packets.map(\.sequenceNumber).sorted()
    call.viewer.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: numbers) }
    call.network.run(for: .milliseconds(300))
    let again = call.viewer.packets(of: call.publisher, .video).rtx
    for packet in call.packets {
      let found = again.first {
        $0.payload.count > 2
          && UInt16($0.payload[0]) << 8 | UInt16($0.payload[1]) == packet.sequenceNumber
      }
      #expect(found?.descriptor == packet.descriptor)
      #expect(found.map { Array($0.payload.dropFirst(2)) } == packet.payload)
    }
  }

  /// A player that brings its own offer is shown one publisher after the other on one source.
  @Test(arguments: [true, false])
  func numbersGoOnWithAnotherTrack(allowsMixed: Bool) throws {
    let network = SimulatedNetwork(seed: 32)
    let server = try TestServer(network)
    let player = try OfferingClient(1, server)
    let line = "a=extmap:20 \(RTPHeaderExtensionKind.dependencyDescriptor.uri)\n"
    let offer = OfferTexts.both("recvonly", more: line)
      .replacing("a=extmap-allow-mixed\n", with: allowsMixed ? "a=extmap-allow-mixed\n" : "")
    let answer = try player.post(offer, to: .play)
    let video = try #require(answer.media.first { $0.kind == "video" })
    #expect(video.extensions.contains { $0.id == 20 } == allowsMixed)
    let starts: [UInt16] = [65_000, 7]
    for (index, first) in starts.enumerated() {
      let publisher = try ScriptedClient("publisher \(index)", 2 + index, server)
        .connect(.sendonly, video: "VP9")
      #expect(network.run(until: { publisher.isConnected }, within: .seconds(5)))
      network.run(for: .milliseconds(300))
      for frame in 0..<3 as Range<UInt16> {
        publisher.send(
          .video, sequence: frame, timestamp: UInt32(frame) * 3000,
          payload: [frame == 0 ? 0xA8 : 0xE8, 0x80, UInt8(frame), 0x10, UInt8(frame), 1, 2, 3],
          descriptor: descriptor(first &+ 2 * frame, count: frame == 0 ? 40 : 3))
        network.run(for: .milliseconds(33))
      }
      server.core.leave(
        connectionID: try #require(publisher.offer).connectionID, reason: "GONE", at: network.now)
      network.deadlinesChanged()
      network.run(for: .milliseconds(300))
    }
    let numbers = [65_000, 65_002, 65_004, 65_005, 65_007, 65_009] as [UInt16]
    let expected = numbers.enumerated().map { descriptor($1, count: $0 % 3 == 0 ? 40 : 3) }
    #expect(player.packets(.video).map(\.descriptor) == expected.map { allowsMixed ? $0 : nil })
  }
}
