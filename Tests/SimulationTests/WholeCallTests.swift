import SoraClock
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraTransport
import Testing
import WebRTC

/// Calls from a publisher through the server to players, in virtual time and from one seed.
@Suite struct WholeCallTests {
  /// One run's outcome, for comparison with another run of the same seed.
  struct Outcome {
    var digest: String
    var player: SimulatedClient.Reception
    var audioPackets: Int
    var sent: Int
    var keyFrames: Int
    var elapsed: Duration
    var errors: [String]
  }

  private func call(
    seed: UInt64, lasting length: Duration, _ conditions: LinkConditions
  ) throws -> Outcome {
    let started = SystemClock.now
    let network = SimulatedNetwork(seed: seed)
    let hub = network.addHost("server", "10.0.0.1")
    let room = try Room(network, hub)
    let publisher = try room.join("publisher", 1, role: .sendonly, conditions)
    let player = try room.join("player", 2, role: .recvonly, conditions)
    publisher.startMedia()
    network.run(for: length)
    #expect(network.overduePolls == 0, "behind a poll nothing is due at once")
    let video = try #require(player.reception.values.first { $0.frames > 0 })
    return Outcome(
      digest: "\(network.log.digest)", player: video,
      audioPackets: player.reception.values.reduce(0) { $0 + $1.audioPackets },
      sent: publisher.framesSent, keyFrames: publisher.keyFramesSent,
      elapsed: SystemClock.now - started, errors: publisher.errors + player.errors)
  }

  @Test func anHourOfLossIsSeenWithoutAFreeze() throws {
    let conditions = LinkConditions(delay: .milliseconds(25), jitter: .milliseconds(5), loss: 0.01)
    let first = try call(seed: 2026, lasting: .seconds(3600), conditions)
    let second = try call(seed: 2026, lasting: .seconds(3600), conditions)
    print(
      "60 simulated minutes, 2 % loss, 50 ms, 10 ms jitter end to end:",
      "\(first.player.frames) of \(first.sent) frames, \(first.keyFrames) key frames,",
      "longest gap \(first.player.longestGap.inMilliseconds) ms,",
      "mean delay \(first.player.totalDelay.inMilliseconds / Double(first.player.frames)) ms,",
      "\(first.audioPackets) audio packets, in \(first.elapsed.inSeconds) s")
    #expect(first.digest == second.digest, "two runs of one seed are the same to the byte")
    #expect(first.errors.isEmpty)
    #expect(first.player.longestGap < .milliseconds(500))
    #expect(Double(first.player.frames) > 0.995 * Double(first.sent))
    #expect(first.audioPackets > 3600 * 48)
    #expect(first.elapsed < .seconds(60))
    let other = try call(seed: 2027, lasting: .seconds(10), conditions)
    let another = try call(seed: 2028, lasting: .seconds(10), conditions)
    #expect(other.digest != another.digest, "the log tells runs apart")
  }

  @Test func aHardNetworkIsSurvived() throws {
    let hard = LinkConditions(
      delay: .milliseconds(40), jitter: .milliseconds(15), jitterReorders: true,
      burstLoss: GilbertElliott(goodToBad: 0.005, badToGood: 0.3), duplication: 0.01,
      bitsPerSecond: 3_000_000, queue: .time(.milliseconds(200)))
    let outcome = try call(seed: 7, lasting: .seconds(120), hard)
    print(
      "hard network: \(outcome.player.frames) of \(outcome.sent) frames,",
      "longest gap \(outcome.player.longestGap.inMilliseconds) ms, \(outcome.keyFrames) key frames")
    #expect(Double(outcome.player.frames) > 0.9 * Double(outcome.sent))
    #expect(outcome.player.longestGap < .seconds(2))
    #expect(outcome.errors.isEmpty)
  }

  @Test func membersComeAndGoAndEachSeesTheRightStreams() throws {
    let network = SimulatedNetwork(seed: 3)
    let room = try Room(network, network.addHost("server", "10.0.0.1"))
    let link = LinkConditions(delay: .milliseconds(5))
    let a = try room.join("a", 1, role: .sendrecv, link)
    a.startMedia()
    network.run(for: .seconds(2))
    #expect(a.streams.isEmpty && a.counters?.total == 1)
    let b = try room.join("b", 2, role: .sendrecv, link)
    b.startMedia()
    network.run(for: .seconds(2))
    #expect(a.streams.count == 1 && b.streams.count == 1 && a.counters?.sendrecv == 2)
    b.disconnect()
    network.run(for: .seconds(2))
    #expect(a.streams.isEmpty && a.counters?.total == 1)
    #expect(b.closed == SFUClose(code: 1000, reason: "TYPE-DISCONNECT"))
    let c = try room.join("c", 3, role: .sendrecv, link)
    let d = try room.join("d", 4, role: .recvonly, link)
    c.startMedia()
    network.run(for: .seconds(3))
    #expect(a.streams.count == 1 && c.streams.count == 1 && d.streams.count == 2)
    #expect(a.counters?.total == 3 && a.counters?.recvonly == 1)
    #expect(d.reception.values.filter { $0.frames > 30 }.count == 2)
    let before = d.reception.values.reduce(0) { $0 + $1.frames }
    c.disconnect()
    network.run(for: .seconds(2))
    #expect(d.streams.count == 1 && a.streams.isEmpty)
    #expect(d.reception.values.reduce(0) { $0 + $1.frames } > before + 50, "a's pictures go on")
    d.disconnect()
    network.run(for: .seconds(1))
    #expect(a.counters?.total == 1)
    #expect([a, b, c, d].allSatisfy { $0.errors.isEmpty })
  }

  @Test func aPeerThatVanishesIsNoticedOnceWithinFiveSeconds() throws {
    let network = SimulatedNetwork(seed: 11, retention: .everything)
    let room = try Room(network, network.addHost("server", "10.0.0.1"))
    let link = LinkConditions(delay: .milliseconds(5))
    let a = try room.join("a", 1, role: .sendrecv, link)
    let b = try room.join("b", 2, role: .sendrecv, link)
    a.startMedia()
    b.startMedia()
    network.run(for: .seconds(3))
    #expect(a.counters?.total == 2)
    let vanished = network.now
    b.vanish()
    #expect(
      network.run(until: { a.counters?.total == 1 && a.streams.isEmpty }, within: .seconds(10)))
    print("a peer that vanished was reported after \((network.now - vanished).inMilliseconds) ms")
    #expect(
      network.now - vanished < .milliseconds(5_600), "5 s of silence, and a message on its way")
    network.run(for: .seconds(20))
    #expect(network.log.text.components("left ") == 1, "reported once")
  }
}

extension String {
  /// How often a part occurs.
  fileprivate func components(_ part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
