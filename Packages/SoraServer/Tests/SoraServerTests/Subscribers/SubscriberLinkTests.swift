import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import Testing

/// What subscribers get whose links are narrower than the stream, or worse in other ways, in virtual time.
@Suite struct SubscriberLinkTests {
  private static let publisherLink = LinkConditions(delay: .milliseconds(5))

  private static func link(_ kilobits: Int?, jitter: Int = 0) -> LinkConditions {
    LinkConditions(
      delay: .milliseconds(20), jitter: .milliseconds(Int64(jitter)), jitterReorders: jitter > 0,
      bitsPerSecond: kilobits.map { $0 * 1000 }, queue: .time(.milliseconds(300)))
  }

  /// A publisher and its subscribers, with their media running.
  private struct Call {
    let network: SimulatedNetwork
    let server: TestServer
    let publisher: ScriptedClient
    let players: [ScriptedClient]

    init(_ video: ClientMedia.Video, _ links: [LinkConditions], seed: UInt64 = 5) throws {
      network = SimulatedNetwork(seed: seed)
      let server = try TestServer(network)
      self.server = server
      publisher = try ScriptedClient("publisher", 1, server, SubscriberLinkTests.publisherLink)
        .withMedia().connect(.sendonly)
      players = try links.enumerated().map { index, link in
        try ScriptedClient("player\(index)", 2 + index, server, link).withMedia()
          .connect(.recvonly)
      }
      #expect(network.connects(players, to: publisher))
      network.run(for: .milliseconds(100))
      try publisher.startMedia(video)
    }

    /// Kilobits per second that go down a player's link from now on, second by second.
    func rates(of player: ScriptedClient, seconds: Int) -> [Double] {
      (0..<seconds).map { _ in
        let before = player.link.backwardStatistics.sentBytes
        network.run(for: .seconds(1))
        return Double(player.link.backwardStatistics.sentBytes - before) * 8 / 1000
      }
    }

    func subscription(_ player: ScriptedClient) throws -> SFUConnectionStatus.Subscription {
      try #require(server.status(player)?.subscriptions.first { $0.kind == .video })
    }
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  /// Half a megabit for a stream of three times that: with temporal layers the lowest passes whole.
  @Test func aNarrowLinkGetsTheLowestLayer() throws {
    let call = try Call(.init(baseShare: 0.22), [Self.link(500)])
    let player = call.players[0]
    call.network.run(for: .seconds(2))
    let settling = call.rates(of: player, seconds: 2)
    let audio = player.media!.audio.count
    let rates = settling + call.rates(of: player, seconds: 20)
    let frames = player.media!.frames.filter { $0.at > call.network.now - .seconds(20) }
    let status = try call.subscription(player)
    print(
      "500 kbit/s, three layers: median \(Int(Self.median(rates))) most \(Int(rates.max()!)) kbit/s,",
      "\(Double(frames.count) / 20) fps, \(status.retransmissions) sent again, \(status.padding) of padding,",
      "\(status.congestedFramesLeftOut) frames left out for congestion, layer \(status.layer ?? -1)"
    )
    #expect(rates.allSatisfy { $0 <= 550 }, "\(rates)")
    #expect(frames.count >= 140, "seven frames per second")
    #expect(player.media!.damaged == 0)
    #expect(player.media!.audio.count - audio >= 998)
    #expect(status.layer == 0)
    #expect(status.limitation == "bandwidth" || status.limitation == "starved")
    // One frame in 133 ms at best.
    for (one, next) in zip(frames, frames.dropFirst()) { #expect(next.at - one.at < .seconds(1)) }
  }

  /// The same without layers, as official clients publish: key frames keep the picture alive.
  @Test func aNarrowLinkWithoutLayersStaysAlive() throws {
    let call = try Call(.init(), [Self.link(500)])
    let player = call.players[0]
    call.network.run(for: .seconds(2))
    let audio = player.media!.audio.count
    let asked = call.publisher.media!.keyFrameDemands.count
    let rates = call.rates(of: player, seconds: 30)
    let frames = player.media!.frames.filter { $0.at > call.network.now - .seconds(30) }
    let demands = call.publisher.media!.keyFrameDemands.count - asked
    let status = try call.subscription(player)
    print(
      "500 kbit/s, no layers: median \(Int(Self.median(rates))) most \(Int(rates.max()!)) kbit/s,",
      "\(frames.count) frames in 30 s, \(frames.filter(\.isKeyFrame).count) key frames, \(demands) asked for,",
      "\(status.retransmissions) sent again")
    #expect(rates.allSatisfy { $0 <= 550 }, "\(rates)")
    #expect(frames.filter(\.isKeyFrame).count >= 8)
    #expect(frames.count >= 20)
    #expect(demands <= 12, "one in three seconds, and what the player asks for itself")
    #expect(player.media!.audio.count - audio >= 1495)
    for (one, next) in zip(frames, frames.dropFirst()) { #expect(next.at - one.at < .seconds(5)) }
  }

  /// A slow subscriber beside a fast one: the slow one's queue stays short, and the fast one loses nothing.
  @Test(arguments: [nil, 0.22])
  func aSlowSubscriberDisturbsNoOther(baseShare: Double?) throws {
    let call = try Call(.init(baseShare: baseShare), [Self.link(500), Self.link(20_000)])
    let (slow, fast) = (call.players[0], call.players[1])
    call.network.run(for: .seconds(3))
    let before = (fast.media!.frames.count, fast.link.backwardStatistics.dropped)
    let asked = call.publisher.media!.keyFrameDemands.count
    var queues: [Double] = []
    for _ in 0..<3000 {
      call.network.run(for: .milliseconds(10))
      queues.append(slow.link.queueTimes.backward.inMilliseconds)
    }
    queues.sort()
    let demands = call.publisher.media!.keyFrameDemands.count - asked
    let frames = fast.media!.frames.count - before.0
    print(
      "500 beside 20,000 kbit/s, layers \(baseShare != nil): queue p50 \(Int(queues[1500])) p95 \(Int(queues[2850])) ms,",
      "\(frames) frames at the fast one, \(demands) key frames asked for")
    #expect(queues[2850] < 300)
    #expect(frames >= 895)
    #expect(fast.link.backwardStatistics.dropped == before.1)
    #expect(demands <= 30)
    let indices = fast.media!.frames.suffix(frames).map(\.index)
    for (one, next) in zip(indices, indices.dropFirst()) { #expect(next > one && next - one <= 4) }
  }

  @Test func aStaircaseIsFollowed() throws {
    let call = try Call(.init(baseShare: 0.22), [Self.link(2_000)])
    let player = call.players[0]
    _ = call.rates(of: player, seconds: 10)
    func framesIn(_ seconds: Int) -> Int {
      player.media!.frames.count { $0.at > call.network.now - .seconds(Int64(seconds)) }
    }
    #expect(framesIn(5) >= 140)
    player.link.backwardConditions.bitsPerSecond = 400_000
    call.network.run(for: .seconds(2))
    let narrow = call.rates(of: player, seconds: 10)
    #expect(narrow.allSatisfy { $0 <= 440 }, "\(narrow)")
    let seen = framesIn(10)
    player.link.backwardConditions.bitsPerSecond = 2_000_000
    let back = call.network.run(
      until: { framesIn(2) >= 55 }, within: .seconds(25))
    print(
      "2 to 0.4 Mbit/s: most \(Int(narrow.max()!)) kbit/s, \(Double(seen) / 10) fps; all layers back: \(back)"
    )
    // Not even the lowest layer fits: it goes on in parts.
    #expect(seen >= 15)
    #expect(back)
    #expect(player.media!.damaged == 0)
  }

  /// A link that falls to a fifth fills its queue before anything is known of it. From then on little may be lost, what stands in the
  /// queue goes, and what waits is as much as the link takes: nobody sees what was long ago, or nothing for long. All whatever moment of
  /// the stream it falls at.
  @Test(arguments: [400, 500]) func aFallIsFollowedWithinASecond(kilobits: Int) throws {
    var sentAgain: UInt64 = 0
    for phase in 0..<8 {
      let call = try Call(.init(baseShare: 0.22), [Self.link(2_000)], seed: UInt64(phase + 1))
      let player = call.players[0]
      call.network.run(for: .milliseconds(10_000 + Int64(phase) * 137))
      player.link.backwardConditions.bitsPerSecond = kilobits * 1000
      let (start, asked) = (call.network.now, call.publisher.media!.keyFrameDemands.count)
      let before = try call.subscription(player).retransmissions
      var dropped: [Int] = []
      var audio: [Int] = []
      for _ in 0..<4 {
        let before = (player.link.backwardStatistics.dropped, player.media!.audio.count)
        call.network.run(for: .seconds(1))
        dropped.append(Int(player.link.backwardStatistics.dropped - before.0))
        audio.append(player.media!.audio.count - before.1)
      }
      let frames = player.media!.frames.filter { $0.at > start }
      let age = frames.map { ($0.at - $0.sentAt).inMilliseconds }.max() ?? 0
      let gap = zip(frames, frames.dropFirst()).map { ($1.at - $0.at).inMilliseconds }.max() ?? 0
      let demands = call.publisher.media!.keyFrameDemands.count - asked
      let again = try call.subscription(player).retransmissions - before
      sentAgain += again
      print(
        "falls to \(kilobits) at \(phase): \(dropped) lost by the queue, \(audio) packets of audio, \(frames.count) frames,",
        "at most \(Int(age)) ms old and \(Int(gap)) ms apart, \(demands) key frames asked for, \(again) packets sent again"
      )
      #expect(dropped[0] <= 110)
      #expect(dropped[1...].allSatisfy { $0 <= 1 }, "\(dropped)")
      #expect(audio.reduce(0, +) >= 180, "\(audio)")
      #expect(player.link.queueTimes.backward < .milliseconds(100))
      // Four seconds have 30 frames of the lowest layer.
      #expect(frames.count >= 18 && age <= 1_700 && gap <= 1_000 && demands <= 2)
    }
    // Twice as much where what the queue holds back is sent again for each request that crosses it.
    #expect(sentAgain <= 64)
  }

  /// Packets that overtake each other aren't lost: they are asked for, and not sent again.
  @Test func jitterIsNotLoss() throws {
    let call = try Call(.init(), [Self.link(nil, jitter: 30)])
    let player = call.players[0]
    call.network.run(for: .seconds(5))
    let before = try call.subscription(player)
    let rates = call.rates(of: player, seconds: 20)
    let after = try call.subscription(player)
    let again = after.retransmissions - before.retransmissions
    print(
      "30 ms of jitter: median \(Int(Self.median(rates))) kbit/s, \(again) of",
      "\(after.packets - before.packets) packets sent again, \(after.padding - before.padding) of padding"
    )
    #expect(Self.median(rates) < 1_800)
    #expect(again * 10 < after.packets - before.packets)
    #expect(player.media!.frames.filter { $0.at > call.network.now - .seconds(20) }.count >= 590)
  }

  /// Nor is it congestion: no layer is left out, and the path is seen to take more, whichever way the jitter falls.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func jitterLowersNoLayer(seed: UInt64) throws {
    let link = LinkConditions(
      delay: .milliseconds(40), jitter: .milliseconds(30), jitterReorders: true)
    let call = try Call(.init(baseShare: 0.22), [link], seed: seed)
    let player = call.players[0]
    call.network.run(for: .seconds(5))
    let rates = call.rates(of: player, seconds: 20)
    let frames = player.media!.frames.filter { $0.at > call.network.now - .seconds(20) }
    let status = try call.subscription(player)
    print(
      "40 ± 30 ms, three layers: median \(Int(Self.median(rates))) kbit/s, \(Double(frames.count) / 20) fps,",
      "\(status.retransmissions) of \(status.packets) packets sent again")
    #expect(frames.count >= 560)
    #expect(Self.median(rates) < 1_800)
  }

  /// Loss is repaired as it was.
  @Test func lossIsRepaired() throws {
    var link = Self.link(nil)
    link.loss = 0.02
    let call = try Call(.init(), [link])
    let player = call.players[0]
    call.network.run(for: .seconds(3))
    let before = player.media!.frames.count
    call.network.run(for: .seconds(30))
    #expect(player.media!.frames.count - before >= 895)
    #expect(try call.subscription(player).retransmissions > 50)
  }

  /// A publisher's media, and one subscriber that it goes to.
  private static func stream(
    over network: SimulatedNetwork, through server: TestServer,
    preparing: (ScriptedClient) throws -> ScriptedClient = { $0 }
  ) throws -> (publisher: ScriptedClient, subscriber: ScriptedClient) {
    let publisher = try ScriptedClient("publisher", 1, server).withMedia().connect(.sendonly)
    let subscriber = try preparing(ScriptedClient("subscriber", 2, server)).connect(.recvonly)
    #expect(
      network.run(
        until: { publisher.isConnected && subscriber.sections(of: publisher, .video).count == 1 },
        within: .seconds(5)))
    network.run(for: .milliseconds(100))
    try publisher.startMedia(.init())
    return (publisher, subscriber)
  }

  /// Who asks for everything again, feedback or not, gets a share.
  @Test func aFloodOfRequestsIsBounded() throws {
    let network = SimulatedNetwork(seed: 9)
    let server = try TestServer(network)
    let (publisher, greedy) = try Self.stream(over: network, through: server)
    let ssrc = try #require(greedy.ssrc(of: publisher, .video))
    network.run(for: .seconds(2))
    let start = (greedy.link.backwardStatistics.sentBytes, network.now)
    for _ in 0..<500 {
      let numbers = (greedy.received[ssrc] ?? []).suffix(200).map(\.sequenceNumber)
      greedy.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: numbers) }
      network.run(for: .milliseconds(20))
    }
    let seconds = (network.now - start.1).inSeconds
    let rate = Double(greedy.link.backwardStatistics.sentBytes - start.0) * 8 / 1000 / seconds
    print("all asked for again 50 times per second: \(Int(rate)) kbit/s for a stream of 1,500")
    #expect(rate < 3_500)
    let status = try #require(server.status(greedy))
    #expect(status.dropped.retransmissionBudget > 1000)
  }

  /// A subscriber that lost for good what later frames refer to gets nothing that it can't show, and a key frame: official
  /// clients ask for one only after three seconds. Whoever misses more and more gets one a second at most.
  @Test func aLossThatCannotBeRepairedEndsWithAKeyFrame() throws {
    let network = SimulatedNetwork(seed: 11)
    let server = try TestServer(network)
    let (publisher, player) = try Self.stream(over: network, through: server)
    let ssrc = try #require(player.ssrc(of: publisher, .video))
    network.run(for: .seconds(5))
    func numbers() -> [UInt16] { (player.received[ssrc] ?? []).map(\.sequenceNumber) }
    let missed = try #require(numbers().dropLast(220).last)
    let asked = publisher.media!.keyFrameDemands.count
    let left = { server.status(player)?.subscriptions.last?.congestedFramesLeftOut ?? 0 }
    let before = left()
    player.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: [missed]) }
    network.run(for: .seconds(1))
    #expect(publisher.media!.keyFrameDemands.count == asked + 1)
    #expect(left() > before)
    // What is before that key frame is of no matter any more.
    player.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: [missed]) }
    network.run(for: .seconds(1))
    #expect(publisher.media!.keyFrameDemands.count == asked + 1)
    for _ in 0..<100 {
      let old = Array(numbers().suffix(400).dropLast(200))
      player.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: old) }
      network.run(for: .milliseconds(100))
    }
    let demands = publisher.media!.keyFrameDemands.count - asked - 1
    #expect(demands <= 10, "once a second at most")
    #expect(demands >= 3)
  }

  /// A key frame takes half a second of a narrow link: who asks again meanwhile, as players do, gets no other one behind it.
  @Test func aKeyFrameOnItsWayIsNotAskedForAgain() throws {
    let call = try Call(.init(baseShare: 0.22), [Self.link(500)])
    let player = call.players[0]
    call.network.run(for: .seconds(10))
    let ssrc = try #require(player.ssrc(of: call.publisher, .video))
    func ask(for milliseconds: Int) {
      for _ in 0..<milliseconds / 20 {
        player.sendRTCP { try $0.pictureLossIndication(sender: 1, media: ssrc) }
        call.network.run(for: .milliseconds(20))
      }
    }
    let before = call.publisher.media!.keyFrameDemands.count
    ask(for: 500)
    #expect(call.publisher.media!.keyFrameDemands.count == before + 1)
    // Once it has arrived a request is about what comes behind it.
    call.network.run(for: .seconds(2))
    ask(for: 20)
    call.network.run(for: .milliseconds(100))
    #expect(call.publisher.media!.keyFrameDemands.count == before + 2)
  }

  /// Feedback and requests that no socket takes are put off: nothing spins while a queue is full.
  @Test func aFullSocketLeavesNoDeadlineInThePast() throws {
    let network = SimulatedNetwork(seed: 10)
    let tap = TapSink(network)
    let server = try TestServer(network, sink: tap)
    let (_, player) = try Self.stream(over: network, through: server) { $0.withMedia() }
    network.run(for: .seconds(2))
    tap.mode = .refuse
    for _ in 0..<40 {
      network.run(for: .milliseconds(50))
      server.core.poll(at: network.now)
      #expect(try #require(server.core.nextDeadline) > network.now)
    }
    tap.mode = .pass
    network.run(for: .seconds(2))
    #expect(network.overduePolls == 0)
    #expect(player.media!.frames.last.map { network.now - $0.at < .milliseconds(200) } == true)
  }
}
