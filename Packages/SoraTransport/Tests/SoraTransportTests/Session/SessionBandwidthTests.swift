import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Transport-wide feedback through whole sessions makes the estimate follow the link.
@Suite struct SessionBandwidthTests {
  @Test(arguments: [Duration.zero, .seconds(2)])
  func aCleanLinkIsFilledWithinSeconds(audioFirst: Duration) throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(20), bitsPerSecond: 20_000_000))
    let call = try MediaCall(pair, maximumVideo: 5_500_000, audioFirst: audioFirst)
    let start = pair.network.now
    let reached = pair.network.run(
      until: { pair.a.session.estimatedBitrate >= 5_400_000 }, within: .seconds(20))
    let took = pair.network.now - start - audioFirst
    print(
      "clean link, sound \(audioFirst) ahead: 5.4 Mbit/s after \(took.inSeconds) s, "
        + "\(call.video.statistics.paddingPacketsSent) packets of padding")
    #expect(reached && took < .seconds(4))
    #expect(call.video.statistics.paddingPacketsSent >= 5)
    #expect(call.video.statistics.retransmittedPacketsSent == 0)
    #expect(pair.a.targets.last ?? 0 > 5_300_000)
    pair.network.run(for: .seconds(20))
    #expect(pair.a.session.estimatedBitrate > 5_000_000)
    #expect(call.video.statistics.packetsDropped == 0)
    #expect(call.video.remote.packetsLost <= 0)
  }

  /// Nine frames' worth in one, as libvpx makes key frames, is more than may be unanswered otherwise: who joins waits for no answers.
  @Test func aKeyFrameLeavesInOneGo() throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(25)))
    pair.a.session.setMaximumBitrate(2_500_000, at: pair.network.now)
    let call = try MediaCall(pair, maximumVideo: 2_400_000)
    pair.network.run(for: .seconds(10))
    let asked = pair.network.now
    pair.a.wantsKeyFrame = true
    pair.a.sendVideo(on: call.video, size: 31_000, at: asked)
    let came = pair.network.run(
      until: { pair.b.frames.contains { $0.isKeyFrame && $0.at > asked } }, within: .seconds(2))
    let took = pair.network.now - asked
    print(
      "a key frame of 93 kB at \(pair.a.session.estimatedBitrate) bit/s: \(took.inMilliseconds) ms")
    // 25 ms of path, and 124 ms at 2.5 times the estimate and, with packet headers, some more.
    #expect(came && took < .milliseconds(180))
  }

  @Test func aLimitIsFound() throws {
    let pair = try PeerPair(
      LinkConditions(delay: .milliseconds(30), bitsPerSecond: 1_500_000),
      backward: LinkConditions(delay: .milliseconds(30)))
    let call = try MediaCall(pair, maximumVideo: 5_500_000)
    pair.network.run(for: .seconds(20))
    let settled = pair.a.session.estimatedBitrate
    #expect(settled < 1_700_000 && settled > 600_000, "\(settled)")
    pair.link.forwardConditions.bitsPerSecond = 500_000
    pair.network.run(for: .seconds(20))
    let limited = pair.a.session.estimatedBitrate
    print(
      "1.5 Mbit/s link: \(settled); 500 kbit/s link: \(limited), \(call.longestPause.inMilliseconds) ms longest pause"
    )
    #expect(limited < 600_000 && limited > 150_000, "\(limited)")
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    pair.link.forwardConditions.bitsPerSecond = 20_000_000
    let back = pair.network.run(
      until: { pair.a.session.estimatedBitrate > 3_000_000 }, within: .seconds(40))
    #expect(back, "\(pair.a.session.estimatedBitrate)")
  }

  /// The call begins at a rate that the link hasn't got: what its queue loses isn't sent again on top of that.
  @Test(arguments: [200_000, 300_000])
  func aLinkNarrowerThanTheStartSettles(_ rate: Int) throws {
    let pair = try PeerPair(
      LinkConditions(delay: .milliseconds(40), bitsPerSecond: rate),
      backward: LinkConditions(delay: .milliseconds(40)))
    let call = try MediaCall(pair, maximumVideo: 2_500_000)
    let start = pair.network.now
    var settled: Duration?
    var sent = call.bytesSent
    var again = call.video.statistics.retransmittedBytesSent
    var worst = 0.0
    for second in 1...20 {
      pair.network.run(for: .seconds(1))
      let bits = Double(call.bytesSent - sent) * 8
      let bitsAgain = Double(call.video.statistics.retransmittedBytesSent - again) * 8
      sent = call.bytesSent
      again = call.video.statistics.retransmittedBytesSent
      if second > 1 { worst = max(worst, bitsAgain / Double(rate)) }
      if bits < Double(rate) * 1.05 {
        settled = settled ?? (pair.network.now - start)
      } else if second > 5 {
        settled = nil
      }
    }
    print(
      "\(rate / 1000) kbit/s link: settled after \(settled.map { "\($0.inSeconds)" } ?? "-") s, at most "
        + "\(Int(worst * 100)) % of it sent again, \(pair.b.frames.count) frames, longest pause "
        + "\(call.longestPause.inMilliseconds) ms, \(pair.a.session.dropped.retransmissionBudget) refused"
    )
    #expect(try #require(settled) <= .seconds(6))
    #expect(worst < 1)
    #expect(call.longestPause < .seconds(3))
  }

  @Test func theSameSeedIsTheSameCall() throws {
    func run() throws -> (UInt64, Int) {
      let pair = try PeerPair(
        seed: 77,
        LinkConditions(delay: .milliseconds(50), jitter: .milliseconds(10), loss: 0.02))
      let call = try MediaCall(pair, maximumVideo: 1_000_000)
      pair.network.run(for: .seconds(30))
      _ = call
      return (pair.network.log.digest, pair.network.log.eventCount)
    }
    let first = try run()
    #expect(try run() == first)
    #expect(first.1 > 10_000)
  }
}
