import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing

/// Requests for key frames, both ways.
@Suite struct SessionKeyFrameTests {
  @Test func aRequestReachesTheSender() throws {
    let pair = try PeerPair(seed: 2)
    let call = try MediaCall(pair, maximumVideo: 500_000)
    pair.network.run(for: .seconds(3))
    let before = call.video.statistics
    let stream = try #require(call.received)
    let asked = pair.network.now
    stream.requestKeyFrame()
    #expect(stream.statistics.pliCount == 0)
    // Its deadline is now, not the next report's.
    pair.network.deadlinesChanged()
    let came = pair.network.run(
      until: { pair.b.frames.last.map { $0.isKeyFrame && $0.at > asked } ?? false },
      within: .seconds(1))
    #expect(came)
    print(
      "key frame \((pair.network.now - asked).inMilliseconds) ms after the request at a round trip of 40 ms"
    )
    #expect(pair.network.now - asked < .milliseconds(150))
    pair.network.run(for: .seconds(2))
    #expect(call.video.statistics.pliCount == before.pliCount + 1)
    #expect(stream.statistics.pliCount == 1, "a key frame ends the asking")
  }

  @Test func aLostRequestIsRepeated() throws {
    let pair = try PeerPair(seed: 2)
    let call = try MediaCall(pair, maximumVideo: 500_000)
    pair.network.run(for: .seconds(3))
    let stream = try #require(call.received)
    let frames = pair.b.frames.count
    pair.link.backwardConditions.isUp = false
    stream.requestKeyFrame()
    pair.network.deadlinesChanged()
    pair.network.run(for: .milliseconds(900))
    #expect(stream.statistics.pliCount >= 3 && stream.statistics.pliCount <= 5)
    pair.link.backwardConditions.isUp = true
    pair.network.run(for: .seconds(1))
    #expect(pair.b.frames.dropFirst(frames).contains { $0.isKeyFrame })
  }

  @Test func aFloodOfRequestsIsThrottled() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    for _ in 0..<1000 {
      bench.receiveRTCP(SessionBench.pli(1000))
      bench.pass(.milliseconds(1))
    }
    #expect(stream.statistics.pliCount == 1000)
    #expect(bench.keyFrameDemands.count >= 3 && bench.keyFrameDemands.count <= 5)
    bench.pass(.seconds(5))
    // The last one waited for its turn, and that was all.
    #expect(bench.keyFrameDemands.count <= 5)
    bench.receiveRTCP(SessionBench.pli(1234))
    #expect(stream.statistics.pliCount == 1000, "another stream's")
  }

  @Test func aFullIntraRequestCountsOncePerNumber() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    for _ in 0..<5 {
      bench.receiveRTCP(
        SessionBench.rtcp { writer throws(RTPError) in
          try writer.fullIntraRequest(sender: 7, media: 1000, sequenceNumber: 9)
        })
    }
    #expect(stream.statistics.firCount == 1 && bench.keyFrameDemands.count == 1)
  }

  @Test func anUnansweredNeedIsAskedForSeldomerButForEver() throws {
    let bench = SessionBench()
    bench.session.setReceiveSections([TestStreams.videoSection()], at: bench.now)
    // Delta frames only: the buffer can't begin.
    var pictureID: UInt16 = 0
    for number in 0..<300 {
      bench.receive(
        SessionBench.videoPacket(
          number: UInt16(number), timestamp: UInt32(number) * 3000, isKeyFrame: false,
          pictureID: pictureID))
      pictureID += 1
      bench.pass(.milliseconds(33))
    }
    let stream = try #require(bench.session.receiveStreams.first)
    print("ten seconds without a key frame: \(stream.statistics.pliCount) PLIs")
    #expect(stream.statistics.pliCount >= 10 && stream.statistics.pliCount <= 60)
    #expect(bench.frames.isEmpty)
  }
}
