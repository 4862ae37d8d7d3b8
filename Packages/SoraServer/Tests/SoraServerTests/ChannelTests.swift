import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// Who meets whom, what descriptions say of it, and what everybody is told.
struct ChannelTests {
  private func makeServer(
    _ configure: (inout SFUCore.Configuration) -> Void = { _ in }
  ) throws -> (SimulatedNetwork, TestServer) {
    let network = SimulatedNetwork(seed: 21)
    return (network, try TestServer(network, configure: configure))
  }

  @Test func joinsAndLeavesRecycleSections() throws {
    let (network, server) = try makeServer()
    let viewer = try ScriptedClient("viewer", 1, server).connect(.recvonly)
    var publishers: [ScriptedClient] = []
    func join() throws {
      let publisher = try ScriptedClient("p", 2 + publishers.count, server).connect(.sendonly)
      publishers.append(publisher)
      #expect(
        network.run(
          until: { viewer.sections(of: publisher, .video).count == 1 }, within: .seconds(5)))
      network.run(for: .milliseconds(300))
      publisher.send(.video, sequence: 1, timestamp: 1)
      publisher.send(.audio, sequence: 1, timestamp: 1)
      network.run(for: .milliseconds(100))
      #expect(viewer.packets(of: publisher, .video).media.count == 1)
      #expect(viewer.packets(of: publisher, .audio).media.count == 1)
    }
    func leave(_ index: Int) {
      publishers[index].say(.disconnect(reason: "NO-ERROR"))
      network.run(for: .milliseconds(500))
      #expect(publishers[index].closed == SFUClose(code: 1000, reason: "TYPE-DISCONNECT"))
      #expect(viewer.sections(of: publishers[index], .video).isEmpty)
    }
    try join()
    #expect(viewer.offers.last?.media.count == 3)
    let firstMids = viewer.offers.last?.media.compactMap(\.mid) ?? []
    leave(0)
    #expect(viewer.offers.last?.media.map(\.port) == [9, 0, 0])
    try join()
    // The sections that were given back are taken again, under new names.
    #expect(viewer.offers.last?.media.count == 3)
    #expect(viewer.offers.last?.media.map(\.port) == [9, 9, 9])
    let secondMids = viewer.offers.last?.media.compactMap(\.mid) ?? []
    #expect(secondMids[0] == firstMids[0])
    #expect(Set(secondMids[1...]).isDisjoint(with: firstMids))
    try join()
    #expect(viewer.offers.last?.media.count == 5)
    leave(1)
    leave(2)
    #expect(viewer.offers.last?.media.map(\.port) == [9, 0, 0, 0, 0])
    #expect(viewer.isConnected)
    try join()
    #expect(viewer.offers.last?.media.count == 5)
    let destroyed = viewer.notifications.filter { $0.kind == .destroyed }
    #expect(destroyed.map(\.counters.total) == [1, 2, 1])
  }

  @Test func offersWaitForTheAnswerUnderWay() throws {
    let (network, server) = try makeServer()
    let viewer = try ScriptedClient("viewer", 1, server).connect(.recvonly)
    #expect(network.run(until: { viewer.isConnected }, within: .seconds(5)))
    viewer.answersOffers = false
    let a = try ScriptedClient("a", 2, server).connect(.sendonly)
    let b = try ScriptedClient("b", 3, server).connect(.sendonly)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    #expect(viewer.offers.count == 2, "a second offer came before the first was answered")
    a.say(.disconnect(reason: nil))
    network.run(for: .milliseconds(300))
    #expect(viewer.offers.count == 2)
    // No answer comes at all: the client is given up.
    #expect(network.run(until: { viewer.closed != nil }, within: .seconds(31)))
    #expect(viewer.closed?.code == 4490)
    #expect(viewer.closed?.reason.hasPrefix("ANSWER-TIMEOUT") == true)
  }

  @Test func existingPublishersAreInTheFirstOfferBehindOnesOwnSections() throws {
    let (network, server) = try makeServer()
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv, video: "VP8")
    #expect(network.run(until: { a.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(100))
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv, video: "H264") {
      $0.audio = .options(AudioOptions { $0.bitRate = 96 })
      $0.video = .options(
        VideoOptions {
          $0.codecType = "H264"
          $0.bitRate = 300
        })
    }
    #expect(network.run(until: { b.isConnected }, within: .seconds(5)))
    let offer = try #require(b.offers.first)
    #expect(offer.media.map(\.kind) == ["audio", "video", "audio", "video"])
    #expect(offer.media.map(\.direction) == [.recvonly, .recvonly, .sendonly, .sendonly])
    #expect(
      b.offer?.mid
        == ["audio": offer.media[0].mid, "video": offer.media[1].mid].compactMapValues(\.self))
    #expect(offer.media[0].mid?.hasPrefix("audio_") == true)
    #expect(offer.media[1].mid?.hasPrefix("video_") == true)
    #expect(
      offer.media[0].codecs.map(\.description)
        == ["opus/48000/2", "red/48000/2", "telephone-event/48000"])
    #expect(offer.media[0].codecs[0].payloadType == 109)
    let opus = offer.media[0].codecs[0].parameters
    #expect(opus["stereo"] == "1" && opus["minptime"] == "10" && opus["useinbandfec"] == "1")
    #expect(opus["maxaveragebitrate"] == "96000" && opus["usedtx"] == nil)
    #expect(offer.media[0].maximumBitrate == 96_000)
    #expect(offer.media[1].codecs.map(\.name) == ["H264", "rtx"])
    #expect(offer.media[1].maximumBitrate == 300_000)
    #expect(offer.media[1].bandwidths.map(\.modifier) == ["AS", "TIAS"])
    #expect(offer.media[1].sources.isEmpty && offer.media[0].sources.isEmpty)
    #expect(
      Set(offer.media[1].codecs[0].feedback)
        == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    // The other's, by its own codec.
    #expect(offer.media[3].codecs.map(\.name) == ["VP8", "rtx"])
    #expect(offer.media[3].sourceGroups.first?.semantics == "FID")
    #expect(offer.media[2].msids.first?.stream == a.offer?.connectionID)
    #expect(offer.media[3].msids.first?.stream == a.offer?.connectionID)
    #expect(offer.media[0].candidates.count == 1 && offer.media[0].endOfCandidates)
    #expect(offer.media[1].candidates.isEmpty)
    for media in offer.media {
      #expect(media.rtcpMux && media.rtcpReducedSize && media.setup == .actpass)
      #expect(Set(media.extensions.map(\.id)).count == media.extensions.count)
    }
  }

  @Test func wishesForOpusAreInTheOffer() throws {
    let (network, server) = try makeServer()
    let client = try ScriptedClient("a", 1, server).connect(.sendonly) {
      $0.audio = .options(
        AudioOptions {
          $0.opusParams = OpusParams {
            $0.maxPlaybackRate = 16_000
            $0.minPTime = 20
            $0.pTime = 40
            $0.stereo = false
            $0.spropStereo = true
            $0.useInbandFEC = false
            $0.useDTX = true
          }
        })
    }
    let mono = try ScriptedClient("b", 2, server).connect(.sendonly) {
      $0.audio = .options(AudioOptions { $0.opusParams = OpusParams { $0.channels = 1 } })
    }
    #expect(
      network.run(until: { client.isConnected && mono.isConnected }, within: .seconds(5)))
    let media = try #require(client.offers.first?.media.first)
    let opus = try #require(media.codecs.first)
    #expect(opus.description == "opus/48000/2")
    #expect(media.packetTime == 40 && opus.parameters["ptime"] == nil)
    for (name, value) in [
      ("maxplaybackrate", "16000"), ("minptime", "20"), ("stereo", "0"), ("sprop-stereo", "1"),
      ("useinbandfec", "0"), ("usedtx", "1"),
    ] { #expect(opus.parameters[name] == value, "\(name)") }
    #expect(mono.offers.first?.media.first?.codecs.first?.parameters["stereo"] == "0")
    #expect(mono.offers.first?.media.first?.packetTime == nil)
  }

  @Test func disabledKindsAreNeitherSentNorReceived() throws {
    let (network, server) = try makeServer()
    let both = try ScriptedClient("both", 1, server).connect(.sendrecv)
    let sound = try ScriptedClient("sound", 2, server).connect(.sendrecv) { $0.video = .disabled }
    let nothing = try ScriptedClient("nothing", 3, server).connect(.sendonly) {
      $0.video = .disabled
      $0.audio = .disabled
    }
    #expect(
      network.run(
        until: { both.isConnected && sound.isConnected && nothing.isConnected }, within: .seconds(5)
      ))
    network.run(for: .milliseconds(300))
    #expect(sound.offer?.mid?["video"] == nil && sound.offer?.mid?["audio"] != nil)
    #expect(sound.sections(of: both, .video).isEmpty)
    #expect(sound.sections(of: both, .audio).count == 1)
    #expect(both.sections(of: sound, .audio).count == 1)
    #expect(nothing.offers.last?.media.map(\.direction) == [.inactive])
    #expect(nothing.offer?.audio == false && nothing.offer?.mid == [:])
  }

  @Test func aCodecThatTheViewerLacksIsLeftOut() throws {
    let (network, server) = try makeServer()
    let viewer = try ScriptedClient("viewer", 1, server)
    viewer.rejectedCodecs = ["AV1"]
    viewer.connect(.recvonly)
    #expect(network.run(until: { viewer.isConnected }, within: .seconds(5)))
    let a = try ScriptedClient("a", 2, server).connect(.sendonly, video: "AV1")
    #expect(network.run(until: { viewer.sections(of: a, .audio).count == 1 }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    let offers = viewer.offers.count
    a.send(.video, sequence: 1, timestamp: 1)
    a.send(.audio, sequence: 1, timestamp: 1)
    network.run(for: .seconds(1))
    #expect(viewer.packets(of: a, .audio).media.count == 1)
    #expect(viewer.received.count == 1)
    #expect(viewer.offers.count == offers, "a rejected track was offered again")
    // Its place is free for a publisher whose codec fits.
    let b = try ScriptedClient("b", 3, server).connect(.sendonly, video: "VP9")
    #expect(network.run(until: { viewer.sections(of: b, .video).count == 1 }, within: .seconds(5)))
    #expect(viewer.offers.last?.media.filter { $0.kind == "video" }.count == 1)
    #expect(viewer.isConnected)
  }

  @Test func everybodyIsToldWithTheRightCounters() throws {
    let (network, server) = try makeServer()
    func join(_ number: Int, _ role: SFURole) throws -> ScriptedClient {
      let client = try ScriptedClient("c\(number)", number, server).connect(role) {
        $0.clientID = "client-\(number)"
        $0.notifyMetadata = ["n": .integer(Int64(number))]
      }
      #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
      network.run(for: .milliseconds(100))
      return client
    }
    let a = try join(1, .sendrecv)
    #expect(a.notifications.count == 1)
    #expect(a.notifications[0].kind == .created && a.notifications[0].others.isEmpty)
    #expect(a.notifications[0].peer.connectionID == a.offer?.connectionID)
    #expect(a.notifications[0].counters.total == 1)
    let b = try join(2, .sendonly)
    let c = try join(3, .recvonly)
    #expect(b.notifications.first?.others.map(\.clientID) == ["client-1"])
    #expect(b.notifications.first?.others.first?.metadata == ["n": 1])
    #expect(c.notifications.first?.others.map(\.clientID) == ["client-1", "client-2"])
    for client in [a, b, c] {
      let last = try #require(client.notifications.last)
      #expect(last.kind == .created && last.peer.clientID == "client-3")
      #expect(last.counters.sendrecv == 1 && last.counters.sendonly == 1)
      #expect(last.counters.recvonly == 1 && last.counters.total == 3)
    }
    // The stream comes before the news of its owner.
    #expect(a.order.firstIndex(of: "re-offer") ?? 9 < 2)
    network.run(for: .seconds(130))
    b.say(.disconnect(reason: "NO-ERROR"))
    network.run(for: .milliseconds(100))
    for client in [a, c] {
      let last = try #require(client.notifications.last)
      #expect(last.kind == .destroyed && last.peer.clientID == "client-2")
      #expect(last.counters.total == 2 && last.counters.sendonly == 0)
      #expect(last.minutes == 2 && last.role == .sendonly)
      #expect(last.sessionID == a.offer?.sessionID)
    }
    // Nobody is told of its own end; minutes were told in between.
    #expect(b.notifications.last { $0.kind != .updated }?.kind == .created)
    let connectionID = try #require(a.offer?.connectionID)
    #expect(connectionID.utf8.count == 26)
    #expect(connectionID.allSatisfy { "0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains($0) })
  }

  /// How a member reaches its TURN server is said where that is known, and nothing is said for those who use none.
  @Test func theWayOfMediaIsTold() throws {
    let (network, server) = try makeServer()
    let viewer = try ScriptedClient("viewer", 1, server).connect(.recvonly)
    #expect(network.run(until: { viewer.isConnected }, within: .seconds(5)))
    let other = try ScriptedClient("other", 2, server).connect(.sendonly)
    #expect(network.run(until: { other.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(200))
    other.say(.disconnect(reason: "NO-ERROR"))
    network.run(for: .milliseconds(200))
    for kind in [SFUNotification.Kind.created, .destroyed] {
      let told = try #require(viewer.notifications.last { $0.kind == kind })
      #expect(told.peer.connectionID == other.offer?.connectionID)
      let address = try #require(told.remoteAddress)
      #expect("\(address.ip)" == "10.0.1.2")
      func message(_ relayed: TransportAddress?) -> JSONValue? {
        SignalingMessage(.notify(told)) { $0 == relayed ? .tcp : nil }?.json["turn_transport_type"]
      }
      #expect(message(nil) == nil)
      #expect(message(address) == "tcp")
    }
  }

  @Test func aBundleDoesNotHearItself() throws {
    let (network, server) = try makeServer()
    let clients = try (1...3).map { number in
      try ScriptedClient("c\(number)", number, server).connect(.sendrecv) {
        $0.bundleID = number < 3 ? "pair" : nil
      }
    }
    #expect(network.run(until: { clients.allSatisfy(\.isConnected) }, within: .seconds(5)))
    network.run(for: .milliseconds(500))
    #expect(clients[0].sections(of: clients[1], .video).isEmpty)
    #expect(clients[1].sections(of: clients[0], .audio).isEmpty)
    #expect(clients[2].sections(of: clients[0], .video).count == 1)
    #expect(clients[0].sections(of: clients[2], .video).count == 1)
    #expect(
      !clients[0].notifications.contains {
        $0.peer.connectionID == clients[1].offer?.connectionID
      })
    #expect(clients[0].notifications.contains { $0.peer.bundleID != "pair" })
  }

  @Test func channelsAreApartAndSessionsEnd() throws {
    let (network, server) = try makeServer()
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv, channel: "one")
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv, channel: "two")
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(200))
    #expect(a.offers.count == 1 && b.offers.count == 1)
    #expect(a.offer?.sessionID != b.offer?.sessionID)
    #expect(server.core.channelIDs == ["one", "two"])
    #expect(server.core.push(["x": 1], to: SFUSelection(channelID: "one"), at: network.now) == 1)
    #expect(
      server.core.push(
        1, to: SFUSelection(channelID: "two", clientID: "nobody"), at: network.now) == 0)
    network.run(for: .milliseconds(50))
    #expect(a.pushes == [["x": 1]] && b.pushes.isEmpty)
    #expect(server.core.disconnect(SFUSelection(channelID: "one"), at: network.now) == 1)
    network.run(for: .milliseconds(50))
    #expect(a.closed == SFUClose(code: 1000, reason: "DISCONNECTED-API"))
    #expect(server.core.channelIDs == ["two"])
  }
}
