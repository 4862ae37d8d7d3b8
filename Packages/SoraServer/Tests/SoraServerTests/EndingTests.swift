import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraTransport
import Testing

/// How connections end, and what is refused.
struct EndingTests {
  private func makeServer(
    _ configure: (inout SFUCore.Configuration) -> Void = { _ in }
  ) throws -> (SimulatedNetwork, TestServer) {
    let network = SimulatedNetwork(seed: 31)
    return (network, try TestServer(network, configure: configure))
  }

  private typealias Change = (inout ConnectMessage) -> Void

  private func audio(_ change: @escaping (inout AudioOptions) -> Void) -> Change {
    { $0.audio = .options(AudioOptions(change)) }
  }

  private func opus(_ change: @escaping (inout OpusParams) -> Void) -> Change {
    audio { $0.opusParams = OpusParams(change) }
  }

  private func video(_ change: @escaping (inout VideoOptions) -> Void) -> Change {
    { $0.video = .options(VideoOptions(change)) }
  }

  @Test func wrongRequestsAreRefusedWithTellingReasons() throws {
    let (network, server) = try makeServer()
    let changes: [(String, Change)] = [
      ("INVALID-CHANNEL_ID", { $0.channelID = "" }),
      ("INVALID-CHANNEL_ID", { $0.channelID = String(repeating: "é", count: 128) }),
      ("INVALID-CLIENT_ID", { $0.clientID = "" }),
      ("LEGACY-STREAM", { $0.multistream = false }),
      ("INVALID-SPOTLIGHT", { $0.spotlightUnfocusRid = .r0 }),
      ("INVALID-SPOTLIGHT_NUMBER", { $0.spotlightNumber = 9 }),
      ("INVALID-VIDEO", video { $0.codecType = "MPEG" }),
      ("INVALID-VIDEO", video { $0.bitRate = -1 }),
      (
        "INVALID-VIDEO",
        video { $0.h264Params = H264Params { $0.profileLevelID = "1\r\na=x" } }
      ),
      ("INVALID-AUDIO", audio { $0.codecType = "G722" }),
      ("INVALID-AUDIO: send connect.audio.bit_rate as", audio { $0.bitRate = 5000 }),
      ("INVALID-AUDIO", opus { $0.channels = 3 }),
      ("INVALID-AUDIO", opus { $0.clockRate = 16_000 }),
      ("INVALID-AUDIO: send connect.audio.opus_params.ptime as", opus { $0.pTime = 121 }),
      ("INVALID-AUDIO", opus { $0.maxPlaybackRate = 7_999 }),
    ]
    for (number, (reason, change)) in changes.enumerated() {
      let client = try ScriptedClient("c", number + 1, server)
      client.connect(.sendrecv, configure: change)
      network.run(for: .milliseconds(100))
      #expect(client.closed?.code == 4490)
      #expect(client.closed?.reason.hasPrefix(reason) == true, "\(client.closed?.reason ?? "-")")
      #expect(client.offer == nil)
    }
    let malformed = try ScriptedClient("m", 50, server)
    malformed.say(.malformed("connect.role: is missing"))
    let unreadable = [
      ("audio.opus_params.maxplaybackrate", #""audio":{"opus_params":{"maxplaybackrate":"a"}}"#),
      ("audio.opus_params.stereo", #""audio":{"opus_params":{"stereo":2}}"#),
      (
        "video.h264_params.profile_level_id",
        #""video":{"h264_params":{"profile_level_id":42}}"#
      ),
    ]
    var refused: [(path: String, client: ScriptedClient)] = []
    for (number, (path, field)) in unreadable.enumerated() {
      let client = try ScriptedClient("u", 60 + number, server)
      client.say(
        SFUMessage(
          parsing: #"{"type":"connect","role":"sendonly","channel_id":"c",\#(field)}"#))
      refused.append((path, client))
    }
    let early = try ScriptedClient("e", 51, server)
    early.say(.answer(sdp: "v=0"))
    network.run(for: .milliseconds(100))
    #expect(malformed.closed?.reason == "INVALID-MESSAGE: connect.role: is missing")
    for (path, client) in refused {
      #expect(client.closed?.code == 4490 && client.offer == nil)
      #expect(client.closed?.reason.hasPrefix("INVALID-MESSAGE: connect.\(path): ") == true)
    }
    #expect(early.closed?.reason.hasPrefix("FIRST-MESSAGE") == true)
    #expect(server.core.status.isEmpty && server.core.channelIDs.isEmpty)
    #expect(server.core.nextDeadline == nil)
  }

  @Test func silenceBeforeConnectAndWithoutMediaIsBounded() throws {
    let (network, server) = try makeServer()
    let silent = try ScriptedClient("silent", 1, server)
    let mute = try ScriptedClient("mute", 2, server)
    mute.vanish()
    mute.connect(.sendonly)
    #expect(network.run(until: { silent.closed != nil }, within: .seconds(11)))
    #expect(silent.closed?.reason.hasPrefix("CONNECT-TIMEOUT") == true)
    #expect(network.now < .zero + .milliseconds(10_100))
    #expect(network.run(until: { mute.closed != nil }, within: .seconds(31)))
    #expect(mute.closed != nil)
    #expect(mute.notifications.isEmpty)
    #expect(server.core.status.isEmpty)
  }

  @Test func aVanishedPeerIsNoticedInFiveSecondsAndReportedOnce() throws {
    let (network, server) = try makeServer()
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv)
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(3))
    a.vanish()
    let start = network.now
    #expect(
      network.run(
        until: { b.notifications.contains { $0.kind == .destroyed } }, within: .seconds(10)))
    #expect(network.now - start < .milliseconds(5500))
    #expect(a.closed?.code == 1011)
    #expect(a.closed?.reason.hasPrefix("MEDIA-CONNECTION-LOST: ICE") == true)
    network.run(for: .seconds(10))
    #expect(b.notifications.filter { $0.kind == .destroyed }.count == 1)
    #expect(
      server.events.filter { if case .left = $0 { true } else { false } }.count == 1)
    #expect(b.isConnected)
    #expect(b.offers.last?.media.suffix(2).map(\.port) == [0, 0])
  }

  @Test func pingsGoOutAndUnansweredOnesEndTheConnection() throws {
    let (network, server) = try makeServer()
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv)
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(31_000))
    #expect(a.pings == [false, false, true, false, false, true])
    b.answersPings = false
    #expect(network.run(until: { b.closed != nil }, within: .seconds(70)))
    #expect(b.closed == SFUClose(code: 1011, reason: "PONG-TIMEOUT"))
    #expect(a.closed == nil)
    #expect(server.core.status.count == 1)
  }

  @Test func theEndOfTheWebSocketEndsTheConnection() throws {
    let (network, server) = try makeServer()
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv)
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    a.loseSignaling()
    network.run(for: .milliseconds(200))
    #expect(b.notifications.last?.kind == .destroyed)
    #expect(server.core.status.count == 1)
    // The media path is told as well, so that the client doesn't wait for consent to run out.
    #expect(a.transport.state == .failed(.closedByPeer))
    server.core.shutdown(at: network.now)
    network.run(for: .milliseconds(100))
    #expect(b.closed == SFUClose(code: 1001, reason: "SERVER-SHUTDOWN"))
    #expect(server.core.nextDeadline == nil)
  }

  @Test func answersThatMakeNoSenseEndTheirConnectionOnly() throws {
    let (network, server) = try makeServer()
    let good = try ScriptedClient("good", 1, server).connect(.sendrecv)
    #expect(network.run(until: { good.isConnected }, within: .seconds(5)))
    let texts = [
      "", "v=0\r\n", "nonsense", "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n",
      "v=0\r\nm=audio 0 UDP/TLS/RTP/SAVPF 109\r\n",
    ]
    for (number, text) in texts.enumerated() {
      let client = try ScriptedClient("bad", number + 2, server)
      client.answersOffers = false
      client.connect(.sendonly)
      network.run(for: .milliseconds(100))
      client.say(.answer(sdp: text))
      network.run(for: .milliseconds(100))
      #expect(client.closed?.code == 4490)
      #expect(client.closed?.reason.hasPrefix("INVALID-ANSWER") == true)
    }
    #expect(good.closed == nil && good.isConnected)
  }

  @Test func aFullServerTurnsClientsAway() throws {
    let (network, server) = try makeServer { $0.maximumPeers = 1 }
    #expect(server.core.accept(at: network.now) != nil)
    #expect(server.core.accept(at: network.now) == nil)
  }
}
