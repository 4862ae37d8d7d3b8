import SoraMedia
import SoraNetworkSimulator
import Testing

/// The goals of congestion control (Docs/congestion.md) for a subscriber: what a server sends has the publisher's rate, of which only
/// temporal layers can be left out. Each prints the row that the document has.
@Suite struct SubscriberGoalTests {
  private static let seeds: ClosedRange<UInt64> = 1...5

  /// One row: the figure of each seed.
  private func row(
    _ goal: String, _ bound: String, _ figures: [Double], _ unit: String, digits: Int = 0
  ) {
    let texts = figures.map { figure in
      let scale = digits == 0 ? 1.0 : 100.0
      let rounded = (figure * scale).rounded() / scale
      return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
    }
    print("| \(goal) | \(bound) | \(texts.joined(separator: ", ")) \(unit) |")
  }

  /// Packets hardly wait where the link is narrower than the stream.
  @Test(arguments: [500, 1_000]) func ownQueueIsShort(kilobits: Int) throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(kilobits, seed: seed)
      room.network.run(for: .seconds(10))
      let start = room.now
      room.network.run(for: .seconds(60))
      figures.append(room.wait(0.95, since: start))
      #expect(room.frames(since: start) >= 7 * 60)
    }
    row("own queue on a link of \(kilobits) kbit/s", "p95 of 60 ms", figures, "ms")
    #expect(figures.allSatisfy { $0 <= 60 }, "\(figures)")
  }

  /// Loss that the rate doesn't make isn't obeyed.
  @Test func randomLossIsNotObeyed() throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(3_000, loss: 0.02, seed: seed)
      room.network.run(for: .seconds(10))
      let start = room.now
      room.network.run(for: .seconds(60))
      figures.append(Double(room.frames(since: start)) / 18)
    }
    row("2 % random loss on 3 Mbit/s", "85 % of all frames", figures, "%")
    #expect(figures.allSatisfy { $0 >= 85 }, "\(figures)")
  }

  /// A link that becomes wider carries the whole stream soon.
  @Test func aStepIsFollowed() throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(500, seed: seed)
      room.network.run(for: .seconds(30))
      room.bottleneck.forwardConditions.bitsPerSecond = 4_000_000
      let start = room.now
      // All layers, for half a second.
      let isBack = room.network.run(
        until: { room.frames(since: room.now - .milliseconds(500)) >= 14 }, within: .seconds(60))
      #expect(isBack)
      figures.append((room.now - start).inSeconds)
    }
    row("step from 0.5 to 4 Mbit/s", "all layers within 15 s", figures, "s", digits: 2)
    #expect(figures.allSatisfy { $0 <= 15 }, "\(figures)")
  }

  /// A link that falls to a fifth, with room for two seconds, is drained soon.
  @Test func aFallIsDrained() throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(2_500, queue: .seconds(2), seed: seed)
      room.network.run(for: .seconds(30))
      room.bottleneck.forwardConditions.bitsPerSecond = 500_000
      let start = room.now
      room.network.run(for: .seconds(20))
      var (longest, since) = (0.0, Instant?.none)
      for (at, milliseconds) in room.waits where at >= start {
        if milliseconds > 300 {
          since = since ?? at
          longest = max(longest, (at - since!).inSeconds)
        } else {
          since = nil
        }
      }
      figures.append(longest)
    }
    row("drop from 2.5 to 0.5 Mbit/s", "over 300 ms for 1 s at most", figures, "s", digits: 2)
    #expect(figures.allSatisfy { $0 <= 1 }, "\(figures)")
  }

  /// What waited during an outage doesn't leave in one burst.
  @Test func anOutageEndsWithoutABurst() throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(2_500, seed: seed)
      room.network.run(for: .seconds(20))
      let usual = room.halfSeconds(20).reduce(0, +) / 20
      room.bottleneck.setUp(false)
      room.network.run(for: .milliseconds(2_500))
      room.bottleneck.setUp(true)
      let most = room.halfSeconds(11).max() ?? 0
      figures.append(most / usual)
      #expect(room.frames(since: room.now - .seconds(1)) > 0)
    }
    row(
      "outage of 2.5 s on 2.5 Mbit/s", "no more than 1.5 times the old rate", figures, "x",
      digits: 2)
    #expect(figures.allSatisfy { $0 <= 1.5 }, "\(figures)")
  }

  /// Two subscribers of one stream share a link.
  @Test func twoShareALink() throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(2_000, players: 2, seed: seed)
      room.network.run(for: .seconds(40))
      let start = room.now
      room.network.run(for: .seconds(100))
      let frames = [0, 1].map { Double(room.frames($0, since: start)) }
      figures.append(100 * abs(frames[0] - frames[1]) / max(frames[0] + frames[1], 1))
    }
    row("two subscribers on 2 Mbit/s", "each within 10 % of a half", figures, "%")
    #expect(figures.allSatisfy { $0 <= 10 }, "\(figures)")
  }

  /// What a TCP flow leaves a subscriber.
  @Test(arguments: [SimulatedTCPAlgorithm.cubic, .newReno])
  func aTransferLeavesAShare(algorithm: SimulatedTCPAlgorithm) throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(2_000, seed: seed)
      room.network.run(for: .seconds(10))
      let transfer = room.startTransfer(algorithm)
      room.network.run(for: .seconds(30))
      let before = (transfer.wireBytesReceived, room.bottleneck.forwardStatistics.deliveredBytes)
      room.network.run(for: .seconds(120))
      let all = Double(room.bottleneck.forwardStatistics.deliveredBytes - before.1)
      figures.append(100 * (1 - Double(transfer.wireBytesReceived - before.0) / all))
      transfer.stop()
    }
    row(
      "against \(Self.name(algorithm)) on 2 Mbit/s", "20 % of the link", figures, "%")
    #expect(figures.allSatisfy { $0 >= 20 }, "\(figures)")
  }

  /// What a transfer took comes back when it ends, and the queue is short again.
  @Test(arguments: [SimulatedTCPAlgorithm.cubic, .newReno])
  func aTransferThatEndsLeavesNothingBehind(algorithm: SimulatedTCPAlgorithm) throws {
    var figures: [Double] = []
    for seed in Self.seeds {
      let room = try SubscriberRoom(2_000, seed: seed)
      room.network.run(for: .seconds(10))
      let transfer = room.startTransfer(algorithm)
      room.network.run(for: .seconds(60))
      transfer.stop()
      let end = room.now
      // For a whole second: what the queue held back comes at once, too.
      let isBack = room.network.run(
        until: { room.frames(since: room.now - .seconds(1)) >= 28 }, within: .seconds(60))
      #expect(isBack)
      figures.append((room.now - end).inSeconds)
      let start = room.now
      room.network.run(for: .seconds(30))
      #expect(room.wait(0.95, since: start) <= 60)
      #expect(room.frames(since: start) >= 27 * 30)
    }
    row(
      "end of a transfer (\(Self.name(algorithm)))", "all layers within 30 s", figures, "s",
      digits: 2)
    #expect(figures.allSatisfy { $0 <= 30 }, "\(figures)")
  }

  private static func name(_ algorithm: SimulatedTCPAlgorithm) -> String {
    algorithm == .cubic ? "CUBIC" : "NewReno"
  }
}
