import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraSignalingMessages
import SoraTransport
import Testing

/// Publishers and players with offers of their own, with media, in virtual time.
struct OfferCallTests {
  private func world(_ seed: UInt64) throws -> (SimulatedNetwork, TestServer) {
    let network = SimulatedNetwork(seed: seed)
    return (network, try TestServer(network))
  }

  private func connect(_ clients: OfferingClient..., on network: SimulatedNetwork) {
    #expect(
      network.run(
        until: { clients.allSatisfy { $0.status?.isConnected == true } }, within: .seconds(5)))
    network.run(for: .milliseconds(200))
  }

  /// Sends frames of both media, 20 ms apart.
  private func send(
    _ client: OfferingClient, from first: UInt16, count: UInt16, on network: SimulatedNetwork,
    ssrc: UInt32 = 1111
  ) throws {
    for index in first..<(first + count) {
      try client.send(.video, sequence: index, isKeyFrame: index % 10 == 0, ssrc: ssrc)
      try client.send(.audio, sequence: index, ssrc: ssrc + 2222)
      network.run(for: .milliseconds(20))
    }
    network.run(for: .milliseconds(100))
  }

  /// Clients of few words, as many that publish by WHIP are, know the receiver's estimate and nothing else; others more. Each is told in
  /// one way.
  @Test(arguments: CongestionFeedbackKind.allCases)
  func publishersAreToldOfCongestionAsTheyWant(_ kind: CongestionFeedbackKind) throws {
    let (network, server) = try world(80)
    let publisher = try OfferingClient(1, server)
    let whole = OfferTexts.both(
      "sendonly", more: kind == .bySource ? "a=rtcp-fb:* ack ccfb\n" : "")
    let lines = whole.split(separator: "\n").filter {
      kind != .receiverEstimate || !$0.hasSuffix(" transport-cc")
    }
    try publisher.post(lines.joined(separator: "\n") + "\n", to: .publish)
    connect(publisher, on: network)
    try send(publisher, from: 0, count: 200, on: network)
    let told = publisher.feedbacks
    #expect((told.transportWide > 20) == (kind == .transportWide), "\(told)")
    #expect((told.bySource > 20) == (kind == .bySource), "\(told)")
    #expect((publisher.estimates.count > 2) == (kind == .receiverEstimate))
    // Some 50 kbit/s are sent, without any queue.
    if kind == .receiverEstimate {
      #expect(try #require(publisher.estimates.last) > 50_000)
    }
  }

  @Test func whatIsPublishedIsPlayedUntouched() throws {
    let (network, server) = try world(81)
    let publisher = try OfferingClient(1, server)
    try publisher.post(OfferTexts.both("sendonly"), to: .publish)
    let player = try OfferingClient(2, server)
    let answer = try player.post(OfferTexts.both("recvonly"), to: .play)
    let ordinary = try ScriptedClient("s", 3, server).connect(.recvonly)
    connect(publisher, player, on: network)
    #expect(network.run(until: { ordinary.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    try send(publisher, from: 0, count: 50, on: network)
    let video = player.packets(.video)
    #expect(video.count == 50)
    for (index, packet) in video.enumerated() {
      #expect(
        packet.payload
          == OfferingClient.payload(.video, UInt16(index), isKeyFrame: index % 10 == 0))
      #expect(packet.sequenceNumber == video[0].sequenceNumber &+ UInt16(index))
      #expect(packet.timestamp &- video[0].timestamp == UInt32(index) * 3000)
      #expect(packet.payloadType == 96)
    }
    #expect(video.first?.mid == answer.media[1].mid)
    #expect(player.packets(.audio).count == 50)
    // A client on a WebSocket meets the publisher as it meets all others.
    let id = try #require(publisher.made?.connectionID)
    #expect(
      ordinary.offers.last?.media.filter { $0.msids.first?.stream == id && $0.port != 0 }.count == 2
    )
    #expect(ordinary.received.values.contains { $0.count == 50 })
    #expect(ordinary.notifications.last?.counters.total == 3)
    let created = server.reports.filter {
      if case .connection(let report) = $0 { report.notification.kind == .created } else { false }
    }
    #expect(created.count == 3)
    // Who comes in the middle needs a key frame.
    #expect(publisher.keyFrameRequests.isEmpty)
    let late = try OfferingClient(4, server)
    try late.post(OfferTexts.both("recvonly"), to: .play)
    connect(late, on: network)
    #expect(publisher.keyFrameRequests == [1111])
    try send(publisher, from: 51, count: 20, on: network)
    #expect(late.packets(.video).count == 20)
    // It goes: the others hear of it.
    server.core.leave(connectionID: id, reason: "HTTP-DELETE", at: network.now)
    network.deadlinesChanged()
    network.run(for: .seconds(1))
    #expect(publisher.transport.state != .connected)
    #expect(ordinary.notifications.last?.kind == .destroyed)
    #expect(player.status?.subscriptions.isEmpty == true)
    #expect(
      server.events.contains {
        if case .left("room", id, .sendonly, "HTTP-DELETE") = $0 { true } else { false }
      })
  }

  /// A player that was there first is shown the publisher that comes, and the next one on the same source, with numbers that go on.
  @Test func aPlayerFollowsTheChannelWithoutNewNegotiation() throws {
    let (network, server) = try world(82)
    let player = try OfferingClient(1, server)
    try player.post(OfferTexts.both("recvonly"), to: .play)
    connect(player, on: network)
    #expect(player.received.isEmpty)
    let first = try OfferingClient(2, server)
    try first.post(OfferTexts.both("sendonly"), to: .publish)
    connect(first, on: network)
    let second = try OfferingClient(3, server)
    try second.post(OfferTexts.both("sendonly"), to: .publish)
    connect(second, on: network)
    try send(first, from: 0, count: 20, on: network)
    try send(second, from: 500, count: 20, on: network, ssrc: 99)
    // One of them is shown, the one that came first.
    #expect(player.packets(.video).count == 20)
    #expect(
      player.status?.subscriptions.map { Optional($0.publisherID) } == [
        first.made?.connectionID, first.made?.connectionID,
      ])
    server.core.leave(
      connectionID: try #require(first.made).connectionID, reason: "GONE", at: network.now)
    network.deadlinesChanged()
    network.run(for: .milliseconds(300))
    try send(second, from: 520, count: 20, on: network, ssrc: 99)
    let video = player.packets(.video)
    #expect(video.count == 40)
    for (index, packet) in video.enumerated() {
      #expect(packet.sequenceNumber == video[0].sequenceNumber &+ UInt16(index))
      if index > 0 {
        #expect(Int32(bitPattern: packet.timestamp &- video[index - 1].timestamp) > 0)
      }
    }
    #expect(
      video.last?.payload == OfferingClient.payload(.video, 539, isKeyFrame: false))
    #expect(player.packets(.audio).count == 40)
    #expect(player.received.count == 2, "no other sources")
  }

  /// Who sends all that a player takes goes before who sends a part, and a codec that it lacks isn't sent.
  @Test func aPlayerIsShownWhoSendsMost() throws {
    let (network, server) = try world(83)
    let player = try OfferingClient(1, server)
    try player.post(OfferTexts.both("recvonly", types: "96 97"), to: .play)
    let audioOnly = try OfferingClient(2, server)
    try audioOnly.post(
      OfferTexts.head + "a=group:BUNDLE 0\n" + OfferTexts.audio("sendonly"), to: .publish)
    connect(player, audioOnly, on: network)
    #expect(
      player.status?.subscriptions.map { Optional($0.publisherID) } == [
        audioOnly.made?.connectionID
      ])
    let other = try OfferingClient(3, server)
    var grant = SFUGrant()
    grant.settings.videoCodecType = "VP9"
    try other.post(OfferTexts.both("sendonly"), to: .publish, grant)
    connect(other, on: network)
    #expect(
      player.status?.subscriptions.map { Optional($0.publisherID) } == [
        audioOnly.made?.connectionID
      ])
    let whole = try OfferingClient(4, server)
    try whole.post(OfferTexts.both("sendonly"), to: .publish)
    connect(whole, on: network)
    #expect(player.status?.subscriptions.count == 2)
    #expect(
      player.status?.subscriptions.allSatisfy { $0.publisherID == whole.made?.connectionID } == true
    )
    try send(whole, from: 0, count: 10, on: network)
    #expect(player.packets(.video).count == 10 && player.packets(.audio).count == 10)
  }

  /// Two sections of a kind show two publishers.
  @Test func aPlayerWithMoreSectionsIsShownMorePublishers() throws {
    let (network, server) = try world(84)
    let player = try OfferingClient(1, server)
    try player.post(
      OfferTexts.head + "a=group:BUNDLE 0 1\n" + OfferTexts.video("recvonly", mid: "0")
        + OfferTexts.video("recvonly", mid: "1"), to: .play)
    let a = try OfferingClient(2, server)
    try a.post(OfferTexts.both("sendonly"), to: .publish)
    let b = try OfferingClient(3, server)
    try b.post(OfferTexts.both("sendonly"), to: .publish)
    connect(player, a, b, on: network)
    try send(a, from: 0, count: 5, on: network)
    try send(b, from: 0, count: 7, on: network, ssrc: 99)
    #expect(player.packets(.video, 0).count == 5)
    #expect(player.packets(.video, 1).count == 7)
    // The first goes: the second stays where it is.
    server.core.leave(
      connectionID: try #require(a.made).connectionID, reason: "GONE", at: network.now)
    network.deadlinesChanged()
    try send(b, from: 7, count: 3, on: network, ssrc: 99)
    #expect(player.packets(.video, 0).count == 5)
    #expect(player.packets(.video, 1).count == 10)
  }

  @Test func layersOfAPublisherAreTakenByTheirRids() throws {
    let (network, server) = try world(85)
    let publisher = try OfferingClient(1, server)
    try publisher.post(OfferTexts.both("sendonly", more: OfferTexts.obsLayers), to: .publish)
    let low = try ScriptedClient("low", 2, server).connect(.recvonly) {
      $0.simulcast = true
      $0.simulcastRequestRid = .r0
    }
    let high = try ScriptedClient("high", 3, server).connect(.recvonly) {
      $0.simulcast = true
      $0.simulcastRequestRid = .r2
    }
    connect(publisher, on: network)
    #expect(network.run(until: { low.isConnected && high.isConnected }, within: .seconds(5)))
    for index in UInt16(0)..<150 {
      for (rid, ssrc) in [("0", UInt32(10)), ("1", 11), ("2", 12)] {
        try publisher.send(
          .video, sequence: index, rid: rid, isKeyFrame: index % 10 == 0, ssrc: ssrc)
      }
      network.run(for: .milliseconds(33))
    }
    let layers = publisher.status?.tracks.first { $0.kind == .video }?.layers ?? []
    #expect(layers.map(\.rid) == ["2", "1", "0"])
    #expect(layers.allSatisfy { $0.isFlowing && $0.packets == 150 })
    func shown(_ client: ScriptedClient) -> String? {
      server.status(client)?.subscriptions.first { $0.kind == .video }?.rid
    }
    // OBS names the highest 0.
    #expect(shown(low) == "2")
    #expect(shown(high) == "0")
  }

  @Test func iceStartsOverAndMediaGoOn() throws {
    let (network, server) = try world(86)
    let publisher = try OfferingClient(1, server)
    try publisher.post(OfferTexts.both("sendonly"), to: .publish)
    let player = try OfferingClient(2, server)
    try player.post(OfferTexts.both("recvonly"), to: .play)
    connect(publisher, player, on: network)
    try send(publisher, from: 0, count: 10, on: network)
    var generations = [try #require(publisher.made).generation]
    for round in 1...5 {
      guard case .restarted(let answer, let generation)? = try publisher.restart() else {
        Issue.record("ICE didn't start over")
        return
      }
      #expect(answer.iceUfrag == generation && answer.media[0].mid == "0")
      #expect(!generations.contains(generation))
      generations.append(generation)
      network.run(for: .seconds(4))
      #expect(publisher.transport.state == .connected)
      try send(publisher, from: UInt16(10 * round), count: 10, on: network)
    }
    #expect(player.packets(.video).count == 60)
    #expect(publisher.status?.isConnected == true)
    // Long after: consent goes on under the new name.
    network.run(for: .seconds(60))
    #expect(publisher.status?.isConnected == true)
  }

  @Test func candidatesAreTakenAndNonsenseIsCounted() throws {
    let (network, server) = try world(87)
    let publisher = try OfferingClient(1, server)
    try publisher.post(OfferTexts.both("sendonly"), to: .publish)
    let id = try #require(publisher.made).connectionID
    let ufrag = publisher.transport.ice.localParameters.ufrag
    let good = try SDPFragment(
      parsing: "a=ice-ufrag:\(ufrag)\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"
        + "a=candidate:1 1 udp 2130706431 192.0.2.9 4444 typ host\r\na=candidate:nonsense\r\n")
    #expect(try server.core.receive(good, connectionID: id, at: network.now) == .taken)
    #expect(publisher.status?.dropped.malformedCandidate == 1)
    for text in ["a=ice-ufrag:another\r\n", "a=ice-ufrag:another\r\na=ice-pwd:short\r\n"] {
      let fragment = try SDPFragment(parsing: text)
      #expect(throws: SFUOfferError.self) {
        try server.core.receive(fragment, connectionID: id, at: network.now)
      }
    }
    #expect(try server.core.receive(good, connectionID: "nobody", at: network.now) == nil)
    #expect(server.core.iceGeneration(connectionID: "nobody") == nil)
    // None of that harms it.
    connect(publisher, on: network)
  }

  @Test func whoVanishesOrNeverComesIsGoneAfterAWhile() throws {
    let (network, server) = try world(88)
    let silent = try OfferingClient(1, server)
    try silent.post(OfferTexts.both("sendonly"), to: .publish)
    network.remove(silent)
    let vanishing = try OfferingClient(2, server)
    try vanishing.post(OfferTexts.both("recvonly"), to: .play)
    connect(vanishing, on: network)
    network.remove(vanishing)
    #expect(network.run(until: { server.core.status.isEmpty }, within: .seconds(90)))
    #expect(server.core.channelIDs.isEmpty)
  }
}
