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

  /// Asked all the time, an encoder that answers at once is asked now and then, and one that doesn't is left in peace for longer.
  @Test(arguments: [true, false])
  func aFloodOfRequestsIsThrottled(isAnswered: Bool) throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    var answered = 0
    for _ in 0..<1000 {
      bench.receiveRTCP(SessionBench.pli(1000))
      bench.pass(.milliseconds(1))
      guard isAnswered, bench.keyFrameDemands.count > answered else { continue }
      answered = bench.keyFrameDemands.count
      sendKeyFrame(bench, stream)
    }
    #expect(stream.statistics.pliCount == 1000)
    let demands = bench.keyFrameDemands.count
    #expect(isAnswered ? (3...5).contains(demands) : demands == 1, "\(demands)")
    bench.pass(.seconds(5))
    #expect(bench.keyFrameDemands.count <= demands + 1, "the last one waited for its turn")
    bench.receiveRTCP(SessionBench.pli(1000))
    bench.pass(.milliseconds(1))
    #expect(bench.keyFrameDemands.count > demands, "an encoder that gave none is asked again")
    bench.receiveRTCP(SessionBench.pli(1234))
    #expect(stream.statistics.pliCount == 1001, "another stream's")
  }

  /// An encoder that took long for its last key frame is given four times as long for the next, within limits, before it is asked once more.
  @Test(arguments: [(100, 1_000), (800, 3_200), (2_000, 4_000)])
  func aSlowEncoderIsGivenTime(answer: Int, patience: Int) throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    bench.receiveRTCP(SessionBench.pli(1000))
    bench.pass(.milliseconds(answer))
    sendKeyFrame(bench, stream)
    bench.pass(.seconds(1))
    bench.receiveRTCP(SessionBench.pli(1000))
    bench.pass(.milliseconds(1))
    #expect(bench.keyFrameDemands.count == 2)
    let asked = bench.now
    while bench.keyFrameDemands.count == 2, bench.now - asked < .seconds(10) {
      bench.receiveRTCP(SessionBench.pli(1000))
      bench.pass(.milliseconds(10))
    }
    let waited = (bench.now - asked).inMilliseconds
    #expect(abs(waited - Double(patience)) <= 30, "\(waited) ms")
  }

  /// What was asked before the key frame can have come, asked for that one.
  @Test func requestsThatCrossAKeyFrameAreAnswered() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    bench.session.noteRoundTrip(.milliseconds(800))
    bench.receiveRTCP(SessionBench.pli(1000))
    #expect(bench.keyFrameDemands.count == 1)
    // A slow encoder: it is asked once.
    for _ in 0..<9 {
      bench.pass(.milliseconds(100))
      bench.receiveRTCP(SessionBench.pli(1000))
    }
    #expect(bench.keyFrameDemands.count == 1)
    sendKeyFrame(bench, stream)
    for _ in 0..<7 {
      bench.pass(.milliseconds(100))
      bench.receiveRTCP(SessionBench.pli(1000))
    }
    #expect(bench.keyFrameDemands.count == 1)
    bench.pass(.milliseconds(150))
    bench.receiveRTCP(SessionBench.pli(1000))
    #expect(bench.keyFrameDemands.count == 2, "the key frame was lost, it seems")
  }

  /// What a link that became narrow has left waiting would only make the key frame later.
  @Test(arguments: [true, false])
  func aKeyFrameOvertakesWhatHasWaitedForLong(isLate: Bool) throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    func send(_ index: UInt32, isKeyFrame: Bool, size: Int) {
      bench.session.send(
        StampedFrame.video(index: index, isKeyFrame: isKeyFrame, size: size, at: bench.now),
        on: stream, at: bench.now)
    }
    send(0, isKeyFrame: true, size: 2_000)
    // 100 kB at 2.5 times 500 kbit/s take 640 ms.
    send(1, isKeyFrame: false, size: 100_000)
    bench.pass(.milliseconds(isLate ? 400 : 100))
    let before = numbers(bench.takeRTP())
    send(2, isKeyFrame: true, size: 5_000)
    bench.pass(.milliseconds(isLate ? 100 : 2_000))
    let after = numbers(bench.takeRTP())
    let first = try #require(after.first)
    let last = try #require(before.last)
    let gap = Int(first &- last) - 1
    #expect(isLate ? gap > 20 : gap == 0, "\(gap)")
    #expect(after == (0..<UInt16(after.count)).map { first &+ $0 })
    #expect(isLate ? after.count == 5 : after.count > 5)
    #expect(stream.statistics.packetsDropped == UInt64(gap))
    guard isLate else { return }
    // Who asks for one gets nothing: it was never sent.
    bench.receiveRTCP(
      SessionBench.rtcp { writer throws(RTPError) in
        _ = try writer.nack(sender: 7, media: 1000, missing: [last &+ 1, first])
      })
    bench.pass(.seconds(1))
    let again = bench.takeRTP().filter { $0[1] & 0x7F == 97 }
    #expect(again.count == 1)
  }

  private func numbers(_ packets: [[UInt8]]) -> [UInt16] {
    packets.filter { $0[1] & 0x7F == 96 }.map { UInt16($0[2]) << 8 | UInt16($0[3]) }
  }

  private func sendKeyFrame(_ bench: SessionBench, _ stream: RTPSendStream) {
    bench.session.send(
      StampedFrame.video(index: 0, isKeyFrame: true, size: 100, at: bench.now), on: stream,
      at: bench.now)
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
