import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraSignalingMessages
import Testing

/// Simulcast packet by packet, in virtual time.
@Suite struct SimulcastTests {
  static let codecs = ["VP8", "VP9", "AV1", "H264", "H265"]

  /// A publisher of three layers and a subscriber, with frames that the test sends.
  private final class Call {
    let network = SimulatedNetwork(seed: 21)
    let server: TestServer
    let publisher: ScriptedClient
    let viewer: ScriptedClient
    private let codec: String
    private var frame: UInt16 = 0
    private var numbers: [UInt16] = [65_530, 200, 30_000]
    private var answered = 0
    private var wantsKey = [true, true, true]
    var layers = [0, 1, 2]

    /// - Parameter predecessor: has somebody of the publisher's id come and go before, of whom the viewer asks for this layer.
    init(
      _ codec: String, wish: SignalingRid?, refused: Set<String> = [],
      encodings: [SignalingEncoding]? = nil, predecessor: SignalingRid? = nil
    ) throws {
      self.codec = codec
      server = try TestServer(network) {
        if let encodings { $0.simulcastEncodings = encodings }
      }
      publisher = try ScriptedClient("publisher", 1, server)
      publisher.refusedRids = refused
      viewer = try ScriptedClient("viewer", 2, server)
      if predecessor == nil {
        publisher.connect(.sendonly, video: codec) { $0.simulcast = true }
      }
      viewer.connect(.recvonly) { $0.simulcastRequestRid = wish }
      let (publisher, viewer) = (publisher, viewer)
      if let predecessor {
        let client = try ScriptedClient("predecessor", 3, server)
        try admit(client) { $0.video = .disabled }
        #expect(
          network.run(
            until: { viewer.isConnected && client.isConnected }, within: .seconds(5)))
        #expect(
          server.core.requestSimulcastRid(
            predecessor, channelID: "room", receiver: viewer.offer!.connectionID, sender: Self.id,
            at: network.now))
        client.loseSignaling()
        network.run(for: .milliseconds(200))
        try admit(publisher) {
          $0.video = .options(VideoOptions { $0.codecType = codec })
          $0.simulcast = true
        }
      }
      #expect(
        network.run(
          until: {
            viewer.isConnected && viewer.sections(of: publisher, .video).count == 1
          }, within: .seconds(5)))
      network.run(for: .milliseconds(200))
    }

    private static let id = "ONE-OF-TWO"

    /// Lets somebody in who sends, under the id.
    private func admit(
      _ client: ScriptedClient, _ change: (inout ConnectMessage) -> Void
    ) throws {
      var request = ConnectMessage(role: .sendonly, channelID: "room")
      change(&request)
      let peer = try #require(client.peer)
      _ = server.core.examine(request, of: peer, at: network.now)
      server.core.admit(request, SFUGrant(connectionID: Self.id), of: peer, at: network.now)
    }

    static func ssrc(_ layer: Int) -> UInt32 { UInt32(11 + layer) }

    /// Sends frames of all layers, 30 a second, and the reports that tell their time.
    func send(frames: Int) {
      for _ in 0..<frames {
        for ssrc in publisher.keyFrameRequests.dropFirst(answered) {
          if (11...13).contains(ssrc) { wantsKey[Int(ssrc) - 11] = true }
        }
        answered = publisher.keyFrameRequests.count
        for layer in layers {
          if frame % 15 == 0 { report(layer) }
          let payloads = payloads(layer, isKey: wantsKey[layer])
          wantsKey[layer] = false
          for (index, payload) in payloads.enumerated() {
            publisher.send(
              .video, sequence: numbers[layer], timestamp: timestamp(layer),
              ssrc: Self.ssrc(layer), marker: index == payloads.count - 1,
              rid: frame < 3 ? "r\(layer)" : nil, payload: payload)
            numbers[layer] &+= 1
          }
        }
        frame += 1
        network.run(for: .nanoseconds(33_333_333))
      }
    }

    private func timestamp(_ layer: Int) -> UInt32 {
      [4_294_960_000, 7_000_000, 123][layer] &+ UInt32(frame) * 3000
    }

    private func report(_ layer: Int) {
      let info = RTCPSenderInfo(
        ssrc: Self.ssrc(layer),
        ntp: NTPTime(rawValue: 0xE000_0000_0000_0000 + (UInt64(frame) << 32) / 30),
        rtpTimestamp: timestamp(layer), packetCount: 1, octetCount: 1)
      publisher.sendRTCP { try $0.senderReport(info, blocks: []) }
    }

    /// The packets of a frame, each with its layer and frame at the end.
    private func payloads(_ layer: Int, isKey: Bool) -> [[UInt8]] {
      let id = UInt16([32_700, 5, 900][layer]) &+ frame & 0x7FFF
      let index = UInt8(truncatingIfNeeded: [250, 3, 77][layer] + Int(frame))
      let tail = [UInt8(layer), UInt8(frame >> 8), UInt8(frame & 255)]
      let idBytes = [0x80 | UInt8(id >> 8), UInt8(id & 255)]
      let heads: [[UInt8]]
      switch codec {
      case "VP8":
        heads = [
          [0x90, 0xE0] + idBytes + [index, 0]
            + (isKey ? [0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0] : [0x11, 0, 0])
        ]
      case "VP9":
        heads = [
          [isKey ? 0xAE : 0xEC] + idBytes + [0x10, index] + (isKey ? [0] : []) + [1, 2, 3]
        ]
      case "AV1": heads = [isKey ? [0x18, 0x08, 1, 2, 3] : [0x10, 0x30, 1, 2, 3]]
      case "H264":
        heads =
          isKey ? [[0x67, 66, 0, 30, 1], [0x68, 1, 2], [0x65, 0x88, 1]] : [[0x41, 0x9A, 1]]
      default:
        heads =
          isKey
          ? [[0x40, 1, 1], [0x42, 1, 1], [0x44, 1, 1], [0x26, 1, 0x80]] : [[0x02, 1, 0x80, 1]]
      }
      return heads.map { $0 + tail }
    }

    func ask(_ rid: SignalingRid) {
      #expect(
        server.core.requestSimulcastRid(
          rid, channelID: "room", receiver: viewer.offer!.connectionID,
          sender: publisher.offer!.connectionID, at: network.now))
      network.deadlinesChanged()
    }

    var packets: [ScriptedClient.Packet] { viewer.packets(of: publisher, .video).media }
    /// The layers of the latest packets.
    func latest(_ count: Int) -> Set<Int> {
      Set(packets.suffix(count).map { Int($0.payload[$0.payload.count - 3]) })
    }
    var rid: String? { server.status(viewer)?.subscriptions.first { $0.kind == .video }?.rid }
  }

  /// Frames as they came: the first packets.
  private func frames(_ packets: [ScriptedClient.Packet]) -> [ScriptedClient.Packet] {
    packets.enumerated().filter { index, packet in
      index == 0 || packets[index - 1].timestamp != packet.timestamp
    }.map(\.element)
  }

  @Test(arguments: codecs)
  func layersChangeWithoutATraceInNumbersTimesAndPictures(codec: String) throws {
    let call = try Call(codec, wish: .r2)
    call.send(frames: 20)
    #expect(call.latest(10) == [2])
    let before = call.packets.suffix(5)
    call.ask(.r0)
    call.send(frames: 12)
    #expect(call.latest(5) == [0])
    // A packet from before a change is sent again as it was, from the layer that it is of.
    let ssrc = try #require(call.viewer.ssrc(of: call.publisher, .video))
    let old = try #require(before.last)
    call.viewer.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: [old.sequenceNumber]) }
    call.network.run(for: .milliseconds(100))
    let rtx = try #require(call.viewer.packets(of: call.publisher, .video).rtx.last)
    #expect(Array(rtx.payload.dropFirst(2)) == old.payload)
    #expect(rtx.timestamp == old.timestamp)
    call.ask(.r1)
    call.send(frames: 50)
    #expect(call.latest(10) == [1])
    call.ask(.r2)
    call.send(frames: 50)
    #expect(call.latest(10) == [2] && call.rid == "r2")
    let packets = call.packets
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.sequenceNumber == one.sequenceNumber &+ 1)
    }
    let frames = frames(packets)
    let start = try #require(frames.first)
    let first = Int(start.payload[start.payload.count - 2]) << 8 + Int(start.payload.last!)
    for (one, next) in zip(frames, frames.dropFirst()) {
      #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
      // By the reports a frame's time is the same whatever its layer is, but for a few ticks.
      let number = Int(next.payload[next.payload.count - 2]) << 8 + Int(next.payload.last!)
      let expected = start.timestamp &+ UInt32((number - first) * 3000)
      #expect(abs(Int32(bitPattern: next.timestamp &- expected)) <= 4)
      if codec == "VP8" || codec == "VP9" {
        let place = codec == "VP8" ? 2 : 1
        func id(_ packet: ScriptedClient.Packet) -> UInt16 {
          UInt16(packet.payload[place] & 0x7F) << 8 | UInt16(packet.payload[place + 1])
        }
        #expect((id(one) &+ 1) & 0x7FFF == id(next))
        let index = codec == "VP8" ? 4 : 4
        #expect(one.payload[index] &+ 1 == next.payload[index])
      }
    }
    // What the receiver is told of it.
    let events = call.viewer.events.filter { $0.eventType == "simulcast.switched" }
    let last = try #require(events.last)
    #expect(last.currentRid == "r2" && last.previousRid == "r1" && last.requestRid == "r2")
    #expect(last.senderConnectionID == call.publisher.offer?.connectionID)
    #expect(last.timestamp?.hasSuffix("Z") == true && last.autoRids == ["r0", "r1", "r2"])
    // Each change took one key frame of its layer.
    for layer in 0..<3 {
      #expect(call.publisher.keyFrameRequests.count { $0 == Call.ssrc(layer) } <= 1)
    }
  }

  @Test func nothingIsSentToWhoWantsNoneAndALayerThatIsRefusedIsReplaced() throws {
    let call = try Call("VP8", wish: SignalingRid.none, refused: ["r1"])
    call.layers = [0, 2]
    call.send(frames: 40)
    #expect(call.packets.isEmpty && call.rid == "none")
    call.ask(.r1)
    call.send(frames: 40)
    #expect(call.latest(10) == [0] && call.rid == "r0")
    let count = call.packets.count
    call.ask(.none)
    call.send(frames: 10)
    #expect(call.packets.count == count)
    #expect(call.viewer.events.last?.currentRid == "none")
    call.ask(.r2)
    call.send(frames: 40)
    #expect(call.latest(10) == [2])
    #expect(
      call.packets.last.map { $0.sequenceNumber &- call.packets[0].sequenceNumber }
        == UInt16(call.packets.count - 1))
    #expect(
      !call.server.core.requestSimulcastRid(
        .r0, channelID: "room", receiver: "nobody", sender: nil, at: call.network.now))
  }

  /// What was asked for counts again when a filter lets the sender through again.
  @Test func aWishOutlivesAFilter() throws {
    let call = try Call("VP8", wish: nil)
    call.send(frames: 20)
    call.ask(.r0)
    call.send(frames: 12)
    #expect(call.latest(5) == [0])
    func change(_ change: SFUFilterChange) {
      #expect(
        call.server.core.change(change, channelID: "room", connectionID: nil, at: call.network.now)
          == .done)
      call.network.deadlinesChanged()
    }
    let rules: JSONValue = [[["field": "kind", "operator": "is_in", "values": ["video"]]]]
    change(.create(try ForwardingFilter.read(["name": "none", "rules": rules], path: "filter")))
    call.send(frames: 20)
    #expect(call.viewer.sections(of: call.publisher, .video).isEmpty)
    change(.delete(name: "none"))
    call.send(frames: 40)
    #expect(call.latest(10) == [0] && call.rid == "r0")
    // And what is told of it.
    call.layers = [1, 2]
    call.send(frames: 60)
    let last = try #require(
      call.viewer.events.last { $0.eventType == "simulcast.switched" })
    #expect(last.requestRid == "r0" && last.currentRid != "r0")
  }

  /// Who comes under the id of one who has gone is nobody of whom something was asked, whatever that one sent.
  @Test func aWishEndsWithItsSender() throws {
    let call = try Call("VP8", wish: nil, predecessor: .r0)
    call.send(frames: 90)
    #expect(call.latest(10) == [2] && call.rid == "r2")
  }

  @Test func theOfferListsLayersAndPassesEncodingsOn() throws {
    var encodings = ["r0", "r1", "r2"].map { rid in
      SignalingEncoding {
        $0.rid = rid
        $0.active = rid != "r1"
        $0.scaleResolutionDownTo = EncodingResolution(maxWidth: 320, maxHeight: 180)
      }
    }
    encodings[0].additional = ["vendor": 1]
    let call = try Call("AV1", wish: nil, encodings: encodings)
    let offer = try #require(call.publisher.offer)
    #expect(offer.simulcast == true && offer.encodings == encodings)
    #expect(call.viewer.offer?.simulcast == false && call.viewer.offer?.encodings == nil)
    let section = try #require(
      call.publisher.offers[0].media.first { $0.mid == offer.mid?["video"] })
    #expect(section.attribute("simulcast") == "recv r0;~r1;r2")
    #expect(section.rids.map(\.attributeValue) == ["r0 recv", "r1 recv", "r2 recv"])
    #expect(section.sources.isEmpty)
    let kinds = section.extensions.compactMap { RTPHeaderExtensionKind(uri: $0.uri) }
    #expect(Set(kinds).isSuperset(of: [.mid, .rid, .repairedRid, .dependencyDescriptor]))
    // Those who receive are told of none of it.
    let received = try #require(call.viewer.sections(of: call.publisher, .video).first)
    #expect(received.simulcast == nil && received.rids.isEmpty)
    #expect(!received.extensions.contains { $0.uri == RTPHeaderExtensionKind.rid.uri })
    // What Sora offers where nobody has said otherwise.
    let standard = try #require(try Call("VP9", wish: nil).publisher.offer?.encodings)
    #expect(standard.map(\.scaleResolutionDownBy) == [4, 2, 1])
    #expect(standard.allSatisfy { $0.scalabilityMode == "L1T1" })
  }

  /// Who asks for layers gets what has none as it is.
  @Test(arguments: [SignalingRid.none, .r0])
  func wishesAreOfNoMatterWithoutSimulcast(wish: SignalingRid) throws {
    let network = SimulatedNetwork(seed: 8)
    let server = try TestServer(network)
    let publisher = try ScriptedClient("publisher", 1, server).connect(.sendonly)
    let viewer = try ScriptedClient("viewer", 2, server)
      .connect(.recvonly) { $0.simulcastRequestRid = wish }
    #expect(
      network.run(
        until: { viewer.sections(of: publisher, .video).count == 1 }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    for number in 0..<10 as Range<UInt16> {
      publisher.send(.video, sequence: number, timestamp: UInt32(number) * 3000, rid: "r0")
    }
    network.run(for: .milliseconds(100))
    #expect(viewer.packets(of: publisher, .video).media.count == 10)
    #expect(server.status(viewer)?.subscriptions.last?.rid == nil)
    #expect(server.status(publisher)?.tracks.last?.layers.isEmpty == true)
  }

  /// Layers that weren't offered, floods of sources and garbage harm nobody, and cost bounded memory.
  @Test func hostileSourcesAreDropped() throws {
    let call = try Call("VP8", wish: .r0)
    call.send(frames: 10)
    for source in 0..<3000 as Range<UInt32> {
      let rid = [nil, "r9", "r0 ", "zzzzzzzzzzzzzzzz"][Int(source % 4)]
      call.publisher.send(
        .video, sequence: UInt16(source), timestamp: source, ssrc: 1_000_000 + source, rid: rid)
      if source % 100 == 0 { call.network.run(for: .milliseconds(5)) }
    }
    call.network.run(for: .milliseconds(100))
    let dropped = try #require(call.server.status(call.publisher)).dropped
    // SRTP itself takes only so many sources.
    #expect(dropped.unknownSource > 1000)
    #expect(dropped.tooManySources == 0)
    let count = call.packets.count
    call.send(frames: 10)
    #expect(call.packets.count == count + 10)
  }

  /// Sources that follow each other quickly on one layer: the newest is the layer, and what they bring is no key frame.
  @Test func sourcesThatReplaceEachOtherAreBounded() throws {
    let call = try Call("VP8", wish: .r0)
    call.send(frames: 10)
    for source in 0..<800 as Range<UInt32> {
      call.publisher.send(
        .video, sequence: UInt16(source), timestamp: source, ssrc: 2_000_000 + source, rid: "r2",
        payload: [UInt8](repeating: UInt8(truncatingIfNeeded: source), count: Int(source % 7)))
      if source % 100 == 0 { call.network.run(for: .milliseconds(5)) }
    }
    call.layers = [0, 1]
    call.send(frames: 30)
    #expect(call.latest(10) == [0])
    let dropped = try #require(call.server.status(call.publisher)).dropped
    #expect(dropped.tooManySources == 0)
    #expect(call.publisher.closed == nil && call.viewer.closed == nil)
  }

  /// What is lost on the way up is asked for by its layer's source, and known again by the rid that it repairs.
  @Test func lossesOfALayerAreRepaired() throws {
    let call = try Call("VP8", wish: .r0)
    call.send(frames: 5)
    let packet = call.packets.count
    call.publisher.send(
      .video, sequence: 65_535, timestamp: 4_294_960_000 &+ 15_000, ssrc: 11, losing: true)
    call.publisher.send(.video, sequence: 0, timestamp: 4_294_960_000 &+ 18_000, ssrc: 11)
    call.network.run(for: .milliseconds(300))
    #expect(call.publisher.nacked == [65_535])
    #expect(call.packets.count == packet + 2)
    #expect(call.packets.contains { $0.payload.count == 200 })
  }
}
