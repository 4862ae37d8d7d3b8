import SoraMedia
import SoraRTP
import SoraTransport
import Testing

/// Which packets belong to which stream, and when streams end (RFC 8843 §9.2).
@Suite struct SessionSourceTests {
  private func bench(_ sections: [RTPReceiveParameters]) -> SessionBench {
    let bench = SessionBench()
    bench.session.setReceiveSections(sections, at: bench.now)
    return bench
  }

  @Test func aStrangeSourceIsCounted() {
    let bench = bench([TestStreams.videoSection()])
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, mid: "9"))
    bench.receive(SessionBench.videoPacket(number: 2, timestamp: 0, mid: nil, payloadType: 50))
    bench.receive([0x80])
    bench.receive([UInt8](repeating: 0x41, count: 40))
    #expect(bench.session.dropped.unknownSource == 2)
    #expect(bench.session.dropped.malformedRTP == 2)
    #expect(bench.session.receiveStreams.isEmpty)
  }

  @Test func aSourceIsKnownByItsMidItsNameOrItsPayloadType() {
    for (mid, signalled) in [("1", []), (nil, [1000]), (nil, [])] as [(String?, [UInt32])] {
      let bench = bench([
        TestStreams.audioSection(), TestStreams.videoSection(signalled: signalled),
      ])
      bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, mid: mid))
      #expect(bench.session.receiveStreams.map(\.ssrc) == [1000])
      #expect(bench.frames.count == 1)
    }
  }

  @Test func twoSectionsWithOnePayloadTypeNeedMore() {
    let bench = bench([
      TestStreams.videoSection(mid: "1"), TestStreams.videoSection(mid: "2", signalled: [3000]),
    ])
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 4000, mid: nil))
    #expect(bench.session.dropped.unknownSource == 1)
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 3000, mid: nil))
    #expect(bench.session.receiveStreams.map(\.mid) == ["2"])
  }

  @Test func aNewSourceTakesTheOldOnesPlaceAndKeepsIt() {
    let bench = bench([TestStreams.videoSection()])
    for number in 0..<10 {
      bench.receive(
        SessionBench.videoPacket(
          number: UInt16(number), timestamp: UInt32(number) * 3000, pictureID: UInt16(number)))
      bench.pass(.milliseconds(33))
    }
    #expect(bench.session.receiveStreams.map(\.ssrc) == [1000])
    bench.receive(SessionBench.videoPacket(number: 500, timestamp: 7, ssrc: 5000))
    #expect(bench.session.receiveStreams.map(\.ssrc) == [5000])
    // What the old source had under way doesn't bring it back.
    for number in 10..<20 {
      bench.receive(
        SessionBench.videoPacket(number: UInt16(number), timestamp: UInt32(number) * 3000))
    }
    #expect(bench.session.receiveStreams.map(\.ssrc) == [5000])
    #expect(bench.session.dropped.endedSource == 10)
    // But it may come back later.
    bench.pass(.seconds(2))
    bench.receive(SessionBench.videoPacket(number: 100, timestamp: 900_000))
    #expect(bench.session.receiveStreams.map(\.ssrc) == [1000])
  }

  @Test func anUnnamedSourceDoesNotReplaceANamedOne() {
    let bench = bench([TestStreams.videoSection(signalled: [1000])])
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, mid: nil))
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 6000, mid: nil))
    #expect(bench.session.receiveStreams.map(\.ssrc) == [1000])
    #expect(bench.session.dropped.unknownSource == 1)
  }

  @Test func aSectionThatGoesEndsItsStream() {
    let bench = bench([TestStreams.videoSection(mid: "1"), TestStreams.videoSection(mid: "2")])
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 1000, mid: "1"))
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 3000, mid: "2"))
    #expect(bench.session.receiveStreams.count == 2)
    bench.session.setReceiveSections([TestStreams.videoSection(mid: "2")], at: bench.now)
    #expect(bench.session.receiveStreams.map(\.ssrc) == [3000])
    // Late packets that don't say their mid would fit the other section by their payload type.
    bench.receive(SessionBench.videoPacket(number: 2, timestamp: 3000, ssrc: 1000, mid: nil))
    #expect(bench.session.receiveStreams.map(\.ssrc) == [3000])
    #expect(bench.session.dropped.endedSource == 1)
    bench.session.setReceiveSections([], at: bench.now)
    #expect(bench.session.receiveStreams.isEmpty)
    #expect(bench.pass(.seconds(10)) < 20, "nothing is left to do")
  }

  @Test func aGoodbyeEndsTheStream() {
    let bench = bench([TestStreams.videoSection()])
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0))
    bench.receiveRTCP(
      SessionBench.rtcp { writer throws(RTPError) in
        try writer.receiverReport(sender: 1000)
        try writer.goodbye(ssrc: 1000)
      })
    #expect(bench.session.receiveStreams.isEmpty)
    bench.receive(SessionBench.videoPacket(number: 2, timestamp: 3000))
    #expect(bench.session.receiveStreams.isEmpty)
  }

  @Test func sourcesAreBounded() {
    let bench = bench([TestStreams.videoSection()])
    for ssrc in 0..<5_000 {
      bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: UInt32(ssrc + 1)))
      bench.receive(
        SessionBench.videoPacket(
          number: 1, timestamp: 0, ssrc: UInt32(ssrc + 100_000), payloadType: 97))
    }
    #expect(bench.session.receiveStreams.count == 1)
  }

  @Test func removingAStreamSaysGoodbye() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    bench.session.removeSendStream(stream)
    let packet = try #require(bench.takeRTCP().last)
    var sources: [UInt32] = []
    packet.withUnsafeBytes { bytes in
      var reader = RTCPReader(bytes)
      while let next = try? reader.next() {
        if case .goodbye(let list) = next { sources += Array(list) }
      }
    }
    #expect(sources == [1000])
    #expect(bench.session.sendStreams.isEmpty)
  }

  @Test func anUnsendableFrameIsCounted() throws {
    let bench = SessionBench()
    let audio = try #require(bench.session.addSendStream(TestStreams.audio()))
    bench.session.send(
      StampedFrame.audio(index: 0, at: bench.now, size: 1300), on: audio, at: bench.now)
    #expect(audio.statistics.framesDropped == 1 && audio.statistics.framesSent == 0)
    bench.isWritable = false
    bench.session.send(StampedFrame.audio(index: 1, at: bench.now), on: audio, at: bench.now)
    #expect(audio.statistics.packetsDropped == 1)
  }

  @Test func nothingSpinsWhileNothingCanBeSent() throws {
    let bench = bench([TestStreams.videoSection()])
    let stream = try #require(bench.session.addSendStream(TestStreams.video(ssrc: 9000)))
    bench.isWritable = false
    for number in 0..<100 where number % 3 != 0 {
      bench.receive(
        SessionBench.videoPacket(number: UInt16(number), timestamp: UInt32(number) * 3000))
      bench.session.send(
        StampedFrame.video(
          index: UInt32(number), isKeyFrame: number < 2, size: 3000, at: bench.now),
        on: stream, at: bench.now)
      bench.pass(.milliseconds(33))
    }
    #expect(bench.pass(.seconds(10)) < 2_000)
  }

  @Test func manyStreamsAreAllReported() throws {
    let sections = (0..<60).map { TestStreams.videoSection(mid: "m\($0)") }
    let bench = bench(sections)
    for index in 0..<60 {
      bench.receive(
        SessionBench.videoPacket(
          number: 1, timestamp: 0, ssrc: UInt32(1000 + index), mid: "m\(index)"))
      let sender = try #require(
        bench.session.addSendStream(
          TestStreams.video(mid: "m\(index)", ssrc: UInt32(20_000 + 2 * index))))
      bench.session.send(
        StampedFrame.video(index: 0, isKeyFrame: true, size: 200, at: bench.now), on: sender,
        at: bench.now)
    }
    bench.pass(.milliseconds(100))
    _ = bench.takeRTCP()
    bench.pass(.milliseconds(150))
    var reported: Set<UInt32> = []
    var senders: Set<UInt32> = []
    for packet in bench.takeRTCP() {
      packet.withUnsafeBytes { bytes in
        var reader = RTCPReader(bytes)
        while let next = try? reader.next() {
          switch next {
          case .senderReport(let info, let blocks):
            senders.insert(info.ssrc)
            for block in blocks { reported.insert(block.ssrc) }
          case .receiverReport(_, let blocks):
            for block in blocks { reported.insert(block.ssrc) }
          default: break
          }
        }
      }
    }
    #expect(reported.count == 60)
    #expect(senders.count == 60)
  }

  // MARK: Layers

  /// RFC 8852: sources that no description names are known by the rids in their packets, their retransmissions by the repaired ones.
  @Test func layersAreStreamsOfTheirOwn() throws {
    let bench = SessionBench()
    var section = TestStreams.videoSection()
    section.rids = ["r0", "r1"]
    bench.session.setReceiveSections([section], at: bench.now)
    for number in [1, 2, 4] as [UInt16] {
      for (ssrc, rid) in [(5000, "r0"), (6000, "r1")] as [(UInt32, String)] {
        bench.receive(
          SessionBench.videoPacket(
            number: number, timestamp: UInt32(number) * 3000, ssrc: ssrc, rid: rid))
      }
    }
    #expect(bench.session.receiveStreams.map(\.rid) == ["r0", "r1"])
    #expect(bench.session.receiveStreams.map(\.ssrc) == [5000, 6000])
    // A layer that nobody announced, one without a name, and a repair of nothing.
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 7000, rid: "r2"))
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 7001))
    bench.receive(
      SessionBench.videoPacket(
        number: 1, timestamp: 0, ssrc: 7002, payloadType: 97, original: 3))
    #expect(bench.session.dropped.unknownSource == 3)
    // The missing packet of the second layer comes again.
    bench.receive(
      SessionBench.videoPacket(
        number: 1, timestamp: 9000, ssrc: 6001, payloadType: 97, repairs: "r1", original: 3))
    #expect(bench.session.receiveStreams.map(\.rtxSSRC) == [nil, 6001])
    #expect(
      bench.session.receiveStreams.map { $0.received.retransmittedPacketsReceived } == [0, 1])
    // Another source of a layer takes the place of the first, and of no other layer's.
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 8000, rid: "r0"))
    #expect(Set(bench.session.receiveStreams.map(\.ssrc)) == [6000, 8000])
  }

  // MARK: Collisions

  /// RFC 3550 §8.2: the peer uses our identifier, so ours ends and goes on under another.
  @Test func aCollisionChangesTheSource() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    bench.session.setReceiveSections([TestStreams.videoSection(mid: "9")], at: bench.now)
    let frame = StampedFrame.video(index: 0, isKeyFrame: true, size: 3000, at: bench.now)
    bench.session.send(frame, on: stream, at: bench.now)
    let waiting = Int(stream.statistics.framesSent) * 3 - bench.rtp.count
    let before = bench.takeRTP().count
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0, mid: "9"))
    let new = stream.parameters.ssrc
    #expect(new != 1000 && stream.parameters.rtx?.ssrc == 1001)
    #expect(bench.changedSSRCs == [1000])
    #expect(bench.session.receiveStreams.map(\.ssrc) == [1000])
    let goodbye = try #require(bench.takeRTCP().compactMap { $0.packet(203) }.first)
    #expect(Array(goodbye[4..<8]) == [0, 0, 3, 0xE8])
    // What waited in the pacer goes as the new source, and so does all that follows.
    bench.pass(.milliseconds(500))
    bench.session.send(frame, on: stream, at: bench.now)
    bench.pass(.milliseconds(500))
    let sent = bench.takeRTP().filter { $0[1] & 0x7F == 96 }
    #expect(sent.count >= waiting + 3, "\(sent.count) \(before)")
    let sources = Set(sent.map { $0[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } })
    #expect(sources == [new])
    bench.receiveRTCP(SessionBench.pli(new))
    #expect(stream.statistics.pliCount == 1)
    // Retransmissions' source, and a stream that is added with an identifier in use.
    bench.receive(
      SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 1001, mid: "9"))
    #expect(stream.parameters.rtx?.ssrc != 1001 && bench.changedSSRCs == [1000, 1001])
    let other = try #require(
      bench.session.addSendStream(TestStreams.video(mid: "2", ssrc: 1001)))
    #expect(other.parameters.ssrc != 1001)
  }
}
