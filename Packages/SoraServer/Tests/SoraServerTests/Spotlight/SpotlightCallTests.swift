import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// Calls with a spotlight, packet by packet in virtual time.
@Suite struct SpotlightCallTests {
  /// One who sends three layers of video, told apart by the size of their packets, and audio.
  private final class Participant {
    static let sizes = [100, 300, 900]
    let client: ScriptedClient
    private var wantsKey = [true, true, true]
    private var answered = 0
    private var frame: UInt16 = 0
    private var audio: UInt16 = 0
    var isSpeaking = false
    var level: UInt8? { isSpeaking ? 30 : 80 }
    var id: String { client.offer?.connectionID ?? "" }

    init(_ client: ScriptedClient) { self.client = client }

    func sendFrame() {
      for ssrc in client.keyFrameRequests.dropFirst(answered) where (11...13).contains(ssrc) {
        wantsKey[Int(ssrc) - 11] = true
      }
      answered = client.keyFrameRequests.count
      for layer in 0..<3 {
        var payload: [UInt8] = [0x90, 0xE0, 0x80 | UInt8(frame >> 8 & 0x7F), UInt8(frame & 255)]
        payload += [UInt8(frame & 255), 0]
        payload += wantsKey[layer] ? [0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0] : [0x11, 0, 0]
        payload += [UInt8](repeating: 0, count: Self.sizes[layer] - payload.count)
        wantsKey[layer] = false
        client.send(
          .video, sequence: frame, timestamp: UInt32(frame) * 3600, ssrc: UInt32(11 + layer),
          rid: frame < 3 ? "r\(layer)" : nil, payload: payload)
      }
      frame += 1
    }

    func sendAudio() {
      client.send(
        .audio, sequence: audio, timestamp: UInt32(audio) * 960, payloadCount: 60, level: level)
      audio += 1
    }
  }

  private final class Call {
    let network = SimulatedNetwork(seed: 5)
    let server: TestServer
    let all: [Participant]
    private var ticks = 0

    init(
      _ count: Int,
      rids: SFUSpotlightRids = SFUSpotlightRids(focus: .r1, unfocus: SignalingRid.none),
      configure: (Int, inout ConnectMessage) -> Void = { _, _ in }
    ) throws {
      let server = try TestServer(network) {
        $0.spotlight.rids = rids
      }
      let network = network
      self.server = server
      all = try (0..<count).map { index in
        Participant(
          try ScriptedClient("p\(index)", index + 1, server).connect(.sendrecv) {
            $0.simulcast = true
            $0.spotlight = true
            $0.clientID = "client\(index)"
            configure(index, &$0)
          })
      }
      let all = all
      #expect(
        network.run(
          until: {
            all.allSatisfy { one in
              one.client.isConnected
                && all.allSatisfy {
                  $0 === one || one.client.sections(of: $0.client, .video).count == 1
                }
            }
          }, within: .seconds(10)))
      network.run(for: .milliseconds(300))
    }

    /// 25 frames and 50 packets of audio a second.
    func run(milliseconds: Int) {
      for _ in 0..<milliseconds / 20 {
        for one in all {
          if ticks % 2 == 0 { one.sendFrame() }
          one.sendAudio()
        }
        ticks += 1
        network.run(for: .milliseconds(20))
      }
    }

    func speak(_ speaker: Int?, milliseconds: Int) {
      for (index, one) in all.enumerated() { one.isSpeaking = index == speaker }
      run(milliseconds: milliseconds)
    }

    /// What `viewer` got of `sender` lately: the sizes of its video packets, and how many of audio.
    func got(
      _ viewer: Int, of sender: Int, lately: Duration = .milliseconds(800)
    ) -> (sizes: Set<Int>, video: Int, audio: Int) {
      let since = network.now - lately
      let client = all[viewer].client
      let video = client.packets(of: all[sender].client, .video).media.filter { $0.at > since }
      let audio = client.packets(of: all[sender].client, .audio).media.filter { $0.at > since }
      return (Set(video.map(\.payload.count)), video.count, audio.count)
    }

    func change(_ change: SFUSpotlightChange) -> SFUSpotlightOutcome {
      let outcome = server.core.change(change, channelID: "room", at: network.now)
      network.deadlinesChanged()
      return outcome
    }

    func events(_ viewer: Int, _ type: String) -> [NotifyMessage] {
      all[viewer].client.events.filter { $0.eventType == type }
    }
  }

  @Test func sixWhoSpeakOneAfterTheOther() throws {
    let call = try Call(6) { $1.spotlightNumber = 1 }
    #expect(call.all.allSatisfy { $0.client.offer?.spotlight == true })
    call.speak(nil, milliseconds: 1000)
    for viewer in 0..<6 {
      for sender in 0..<6 where sender != viewer {
        #expect(call.got(viewer, of: sender) == ([], 0, 0))
      }
    }
    for speaker in 0..<6 {
      call.speak(speaker, milliseconds: 2600)
      for viewer in 0..<6 {
        for sender in 0..<6 where sender != viewer {
          let got = call.got(viewer, of: sender)
          if sender == speaker {
            #expect(got.sizes == [300], "\(viewer) sees \(sender)")
            #expect(got.video >= 18 && got.audio >= 38)
          } else {
            #expect(got == ([], 0, 0), "\(viewer) of \(sender) while \(speaker) speaks")
          }
        }
      }
      // One key frame of the layer serves all five.
      #expect(call.all[speaker].client.keyFrameRequests.filter { $0 == 12 }.count <= 1)
      let event = try #require(call.events(0, "spotlight.focused").last)
      #expect(event.connectionID == call.all[speaker].id)
      #expect(event.clientID == "client\(speaker)" && event.spotlightNumber == 1)
      #expect(event.audio == true && event.video == true && event.fixed == false)
      #expect(call.server.status(call.all[speaker].client)?.spotlight.isFocused == true)
    }
    for viewer in 0..<6 {
      #expect(call.events(viewer, "spotlight.focused").count == 6)
      #expect(call.events(viewer, "spotlight.unfocused").count == 5)
    }
    // What was left out leaves no gap.
    let audio = call.all[0].client.packets(of: call.all[3].client, .audio).media
    for (one, next) in zip(audio, audio.dropFirst()) {
      #expect(next.sequenceNumber == one.sequenceNumber &+ 1)
      #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
    }
  }

  @Test func whoIsNotInTheSpotlightIsSeenInTheLowestLayer() throws {
    let call = try Call(3, rids: SFUSpotlightConfiguration().rids)
    call.speak(nil, milliseconds: 1500)
    call.speak(1, milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [300] && call.got(0, of: 2).sizes == [100])
    #expect(call.got(0, of: 2).audio == 0)
  }

  @Test func eachSeesTheLayersThatItAsksFor() throws {
    let call = try Call(3) { index, message in
      guard index == 0 else { return }
      message.spotlightFocusRid = .r2
      message.spotlightUnfocusRid = .r0
      message.simulcastRid = .r1
    }
    call.speak(nil, milliseconds: 1500)
    call.speak(1, milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [900])
    #expect(call.got(0, of: 2).sizes == [100])
    #expect(call.got(2, of: 1).sizes == [300] && call.got(2, of: 0).sizes.isEmpty)
    #expect(call.got(0, of: 2).audio == 0, "who isn't in the spotlight isn't heard")
    // Asked for from outside: of one, then of all, and back.
    let viewer = call.all[0].id
    let rids = SFUSpotlightRids(focus: .r0, unfocus: .none)
    let of1 = SFUSpotlightChange.Layers(sender: call.all[1].id, rids: rids)
    #expect(call.change(.request([of1], receiver: viewer)) == .done)
    call.run(milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [100] && call.got(0, of: 2).sizes == [100])
    #expect(
      call.change(.request([.init(sender: nil, rids: rids)], receiver: viewer)) == .done)
    call.run(milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [100] && call.got(0, of: 2).sizes.isEmpty)
    #expect(call.change(.reset(receiver: viewer, sender: nil)) == .done)
    call.run(milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [900] && call.got(0, of: 2).sizes == [100])
    // A layer that is asked for by itself bounds it.
    #expect(
      call.server.core.requestSimulcastRid(
        .r0, channelID: "room", receiver: viewer, sender: call.all[1].id, at: call.network.now))
    call.network.deadlinesChanged()
    call.run(milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [100])
    #expect(call.change(.request([.init(sender: "x", rids: rids)], receiver: viewer)) == .notFound)
    #expect(call.change(.reset(receiver: "x", sender: nil)) == .notFound)
  }

  @Test func placesAreFixedCountedAndFreed() throws {
    let call = try Call(4) { $1.spotlightNumber = $0 == 0 ? 2 : 7 }
    call.speak(1, milliseconds: 1500)
    #expect(call.change(.focus(call.all[3].id, isFixed: true)) == .done)
    call.speak(2, milliseconds: 2500)
    #expect(call.got(0, of: 3).sizes == [300] && call.got(0, of: 3).audio >= 38)
    #expect(call.got(0, of: 2).sizes == [300] && call.got(0, of: 1) == ([], 0, 0))
    #expect(call.events(0, "spotlight.focused").map(\.fixed) == [false, true, false])
    #expect(call.change(.number(1)) == .done)
    call.run(milliseconds: 1500)
    #expect(call.got(0, of: 3).sizes == [300] && call.got(0, of: 2) == ([], 0, 0))
    #expect(call.change(.focus(call.all[2].id, isFixed: false)) == .full)
    #expect(call.change(.unfocus(call.all[3].id)) == .done)
    call.run(milliseconds: 2000)
    #expect(call.got(0, of: 2).sizes == [300] && call.got(0, of: 3) == ([], 0, 0))
    // Who leaves frees its place.
    call.all[2].client.say(.disconnect(reason: nil))
    call.speak(1, milliseconds: 2500)
    #expect(call.got(0, of: 1).sizes == [300])
    #expect(call.change(.focus("x", isFixed: false)) == .notFound)
  }

  /// Those who ask for no spotlight see and hear everybody, and are seen by the others as those are.
  @Test func clientsWithAndWithoutSpotlightMeet() throws {
    let call = try Call(3) { if $0 == 0 { $1.spotlight = nil } }
    #expect(call.all[0].client.offer?.spotlight == false)
    call.speak(0, milliseconds: 2500)
    #expect(call.got(1, of: 0).sizes == [300] && call.got(1, of: 2) == ([], 0, 0))
    for sender in 1...2 {
      let got = call.got(0, of: sender)
      #expect(got.video >= 18 && got.audio >= 38)
    }
    let rids = SFUSpotlightRids(focus: .r0, unfocus: .r0)
    #expect(
      call.change(.request([.init(sender: nil, rids: rids)], receiver: call.all[0].id))
        == .noSpotlight)
    let plain = try Call(2) { $1.spotlight = false }
    #expect(plain.change(.number(3)) == .noSpotlight)
    #expect(plain.change(.focus(plain.all[0].id, isFixed: true)) == .noSpotlight)
  }

  /// Video without layers can't be thinned; audio follows the spotlight.
  @Test func videoWithoutSimulcastGoesAsItIs() throws {
    let call = try Call(2) { $1.simulcast = false }
    for index in 0..<100 as Range<UInt16> {
      for one in call.all {
        one.client.send(.video, sequence: index, timestamp: UInt32(index) * 3000)
        one.sendAudio()
      }
      call.network.run(for: .milliseconds(20))
    }
    #expect(call.got(0, of: 1, lately: .seconds(3)).video == 100)
    #expect(call.got(0, of: 1, lately: .seconds(3)).audio == 0)
    let status = try #require(call.server.status(call.all[0].client))
    #expect(status.subscriptions.first { $0.kind == .audio }?.unfocused == 100)
  }
}
