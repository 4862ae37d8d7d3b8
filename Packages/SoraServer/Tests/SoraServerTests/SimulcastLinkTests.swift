import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// Which layer of a simulcast subscribers get whose links differ, in virtual time.
@Suite struct SimulcastLinkTests {
  /// Bits per second.
  private static let layers = [150_000, 500_000, 1_500_000]

  private static func link(_ kilobits: Int, loss: Double = 0) -> LinkConditions {
    LinkConditions(
      delay: .milliseconds(20), loss: loss, bitsPerSecond: kilobits * 1000,
      queue: .time(.milliseconds(300)))
  }

  private struct Call {
    let network: SimulatedNetwork
    let server: TestServer
    let publisher: ScriptedClient
    let players: [ScriptedClient]

    init(
      _ links: [LinkConditions], seed: UInt64 = 5, video: String = "VP8",
      configure: (inout ConnectMessage) -> Void = { _ in }
    ) throws {
      network = SimulatedNetwork(seed: seed)
      let server = try TestServer(network)
      self.server = server
      publisher = try ScriptedClient(
        "publisher", 1, server, LinkConditions(delay: .milliseconds(5))
      ).withMedia().connect(.sendonly, video: video) { $0.simulcast = true }
      players = try links.enumerated().map { index, link in
        try ScriptedClient("player\(index)", 2 + index, server, link).withMedia()
          .connect(.recvonly, configure: configure)
      }
      #expect(network.connects(players, to: publisher))
      network.run(for: .milliseconds(100))
      try publisher.startMedia(.init(layers: SimulcastLinkTests.layers))
    }

    func subscription(_ player: ScriptedClient) throws -> SFUConnectionStatus.Subscription {
      try #require(server.status(player)?.subscriptions.first { $0.kind == .video })
    }

    /// Frames that came in the latest seconds.
    func frames(_ player: ScriptedClient, seconds: Int64) -> [ClientMedia.Frame] {
      player.media!.frames.filter { $0.at > network.now - .seconds(seconds) }
    }

    /// What the publisher was asked for since an instant: requests for each layer, and the least time between two of one.
    func checkDemands(since start: Instant) {
      let media = publisher.media!
      for layer in 0..<3 {
        let times = zip(media.keyFrameDemands, media.demandedLayers)
          .filter { $1 == layer && $0 > start }.map(\.0)
        for (one, next) in zip(times, times.dropFirst()) {
          #expect(next - one > .milliseconds(950), "layer \(layer) was asked for twice")
        }
      }
    }

    /// The longest time without a frame from an instant on.
    func longestGap(_ player: ScriptedClient, since start: Instant) -> Duration {
      let times = player.media!.frames.map(\.at).filter { $0 > start }
      return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .seconds(999)
    }
  }

  /// Everybody has the highest layer that fits.
  @Test func tenSubscribersGetTheHighestLayerThatFits() throws {
    let kilobits = [250, 350, 450, 700, 900, 1_100, 1_300, 2_200, 4_000, 20_000]
    let wanted = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
    let call = try Call(kilobits.map { Self.link($0) })
    let start = call.network.now
    call.network.run(for: .seconds(20))
    let settled = call.network.now
    call.network.run(for: .seconds(20))
    for (index, player) in call.players.enumerated() {
      let frames = call.frames(player, seconds: 20)
      let counts = (0..<3).map { layer in frames.count { $0.layer == layer } }
      let gap = call.longestGap(player, since: settled)
      let first = call.longestGap(player, since: start)
      let status = try call.subscription(player)
      print(
        "\(kilobits[index]) kbit/s: \(counts) frames, now \(status.rid ?? "-"), longest gap",
        "\(Int(gap.inMilliseconds)) ms, at first \(Int(first.inMilliseconds)) ms, estimate \((call.server.status(player)?.estimate ?? 0) / 1000)"
      )
      #expect(status.rid == "r\(wanted[index])")
      #expect(counts[wanted[index]] >= 540, "\(kilobits[index]) kbit/s: \(counts)")
      #expect(gap <= .milliseconds(300))
      #expect(first <= .milliseconds(300), "\(kilobits[index]) kbit/s, while layers are found")
      #expect(player.media!.damaged == 0)
    }
    let seconds = (call.network.now - start).inSeconds
    let demands = call.publisher.media!.keyFrameDemands.count
    print("\(demands) key frames were asked for in \(Int(seconds)) s")
    #expect(demands <= Int(seconds))
    call.checkDemands(since: start)
  }

  /// Who comes into the spotlight is seen as well as is asked for and the link allows; who isn't there takes nothing of it.
  @Test func aSpotlightGoesAsFarAsTheLink() throws {
    let call = try Call([Self.link(700), Self.link(20_000)]) {
      $0.spotlight = true
      $0.spotlightFocusRid = .r2
      $0.spotlightUnfocusRid = SignalingRid.none
    }
    let id = try #require(call.publisher.offer?.connectionID)
    func change(_ change: SFUSpotlightChange, seconds: Int64) {
      let outcome = call.server.core.change(change, channelID: "room", at: call.network.now)
      #expect(outcome == .done)
      call.network.deadlinesChanged()
      call.network.run(for: .seconds(seconds))
    }
    call.network.run(for: .seconds(3))
    #expect(call.players.allSatisfy { $0.media!.frames.isEmpty })
    let start = call.network.now
    change(.focus(id, isFixed: true), seconds: 25)
    for (player, layer) in zip(call.players, [1, 2]) {
      let layers = Set(call.frames(player, seconds: 5).map(\.layer))
      #expect(layers == [layer])
    }
    change(.unfocus(id), seconds: 4)
    #expect(call.players.allSatisfy { call.frames($0, seconds: 3).isEmpty })
    change(.focus(id, isFixed: false), seconds: 10)
    for player in call.players {
      #expect(call.frames(player, seconds: 5).count >= 140)
      #expect(player.media!.damaged == 0)
    }
    call.checkDemands(since: start)
  }

  /// Who goes down to the lowest layer by its own wish and up again finds the link as it was left.
  @Test func aWishForMoreIsMetAtOnce() throws {
    let call = try Call([Self.link(20_000)])
    let player = call.players[0]
    let id = try #require(player.offer?.connectionID)
    #expect(
      call.network.run(until: { player.media!.frames.last?.layer == 2 }, within: .seconds(15)))
    for (rid, layer, patience) in [
      (SignalingRid.r0, 0, Duration.milliseconds(400)), (.r2, 2, .milliseconds(400)),
      (.r1, 1, .milliseconds(400)),
      (.r2, 2, .milliseconds(400)),
    ] {
      call.network.run(for: .seconds(12))
      let asked = call.network.now
      #expect(
        call.server.core.requestSimulcastRid(
          rid, channelID: "room", receiver: id, sender: nil, at: asked))
      call.network.deadlinesChanged()
      let isThere = call.network.run(
        until: { player.media!.frames.last?.layer == layer }, within: .seconds(10))
      let took = call.network.now - asked
      print("\(rid) after \(Int(took.inMilliseconds)) ms")
      #expect(isThere && took < patience, "\(rid)")
    }
    #expect(player.media!.damaged == 0)
  }

  /// A link that narrows and widens again is followed, without a freeze.
  @Test func aStaircaseIsFollowed() throws {
    let call = try Call([Self.link(4_000)])
    let player = call.players[0]
    let start = call.network.now
    #expect(
      call.network.run(until: { player.media!.frames.last?.layer == 2 }, within: .seconds(15)))
    call.network.run(for: .seconds(5))
    var report: [String] = []
    for (kilobits, layer) in [(900, 1), (300, 0), (900, 1), (4_000, 2)] {
      let before = call.network.now
      player.link.backwardConditions.bitsPerSecond = kilobits * 1000
      let isThere = call.network.run(
        until: { player.media!.frames.last?.layer == layer }, within: .seconds(20))
      let took = call.network.now - before
      call.network.run(for: .seconds(10))
      let gap = call.longestGap(player, since: before)
      report.append(
        "\(kilobits) kbit/s after \(Int(took.inMilliseconds)) ms, gap \(Int(gap.inMilliseconds)) ms"
      )
      #expect(isThere, "\(kilobits)")
      #expect(player.media!.frames.last?.layer == layer, "\(kilobits)")
      // A link that falls to a third has its queue full before anybody can know: 314 ms.
      #expect(gap <= .milliseconds(kilobits == 300 ? 330 : 300))
    }
    print(report.joined(separator: "; "))
    #expect(player.media!.damaged == 0)
    call.checkDemands(since: start)
    let switched = player.events.filter { $0.eventType == "simulcast.switched" }
    #expect(switched.last?.currentRid == "r2" && switched.last?.previousRid == "r1")
    #expect(switched.last?.priority == "higher" && switched.last?.trigger == "receiver")
  }

  /// An encoder that leaves a layer out says nothing: who was sent it has another one soon, and comes back.
  @Test func aLayerThatStopsIsLeft() throws {
    let call = try Call([Self.link(4_000)])
    let player = call.players[0]
    #expect(
      call.network.run(until: { player.media!.frames.last?.layer == 2 }, within: .seconds(15)))
    call.network.run(for: .seconds(3))
    let before = call.network.now
    call.publisher.media!.starved = [2]
    call.network.run(for: .seconds(2))
    #expect(player.media!.frames.last?.layer == 1)
    let gap = call.longestGap(player, since: before - .milliseconds(200))
    print("a layer that stops costs a gap of \(Int(gap.inMilliseconds)) ms")
    #expect(gap <= .milliseconds(450))
    #expect(player.events.last?.trigger == "sender")
    #expect(
      call.server.status(call.publisher)?.tracks.last?.layers.map(\.isFlowing) == [
        true, true, false,
      ])
    call.publisher.media!.starved = [1, 2]
    call.network.run(for: .seconds(2))
    #expect(player.media!.frames.last?.layer == 0)
    call.publisher.media!.starved = []
    #expect(
      call.network.run(until: { player.media!.frames.last?.layer == 2 }, within: .seconds(15)))
  }
}
