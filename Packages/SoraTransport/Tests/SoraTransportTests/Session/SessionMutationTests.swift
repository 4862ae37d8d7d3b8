import SoraMedia
import SoraRTP
import SoraTransport
import Testing

/// A session survives whatever a peer that has the keys sends.
@Suite struct SessionMutationTests {
  @Test(arguments: [1, 2, 3, 4])
  func mutatedPacketsHarmNothing(seed: UInt64) throws {
    let random = RandomSource(seed: seed)
    let bench = SessionBench(seed: seed)
    bench.session.setReceiveSections(
      [TestStreams.audioSection(), TestStreams.videoSection()], at: bench.now)
    let stream = try #require(bench.session.addSendStream(TestStreams.video(ssrc: 9000)))
    var seeds: [[UInt8]] = [SessionBench.pli(9000)]
    seeds.append(
      SessionBench.rtcp { writer throws(RTPError) in
        try writer.fullIntraRequest(sender: 7, media: 9000, sequenceNumber: 1)
        try writer.nack(sender: 7, media: 9000, missing: [1, 2, 5, 900])
        try writer.receiverEstimate(sender: 7, bitsPerSecond: 2_000_000, sources: [9000])
        try writer.goodbye(ssrc: 1000)
      })
    var info = RTCPSenderInfo(
      ssrc: 1000, ntp: NTPTime(rawValue: 1 << 40), rtpTimestamp: 5, packetCount: 1, octetCount: 1)
    var block = RTCPReportBlock(ssrc: 9000)
    block.lastSenderReport = 99
    seeds.append(
      SessionBench.rtcp { writer throws(RTPError) in
        try writer.senderReport(info, blocks: [block])
        try writer.sourceDescription(ssrc: 1000, cname: "x")
      })
    info.ssrc = 1
    // What a real exchange looks like: own feedback, reports and requests come back too.
    var round = 0
    while round < 5_000 {
      bench.pass(.milliseconds(5))
      if round % 7 == 0 {
        bench.session.send(
          StampedFrame.video(
            index: UInt32(round), isKeyFrame: round == 0, size: 2500, at: bench.now), on: stream,
          at: bench.now)
      }
      let number = UInt16(truncatingIfNeeded: round &* 3)
      var packet =
        switch random.next() % 4 {
        case 0:
          SessionBench.videoPacket(number: number, timestamp: UInt32(round) * 900)
        case 1:
          SessionBench.videoPacket(
            number: number, timestamp: UInt32(round) * 900, ssrc: 1001, payloadType: 97)
        case 2: seeds[Int(random.next() % UInt64(seeds.count))]
        default:
          bench.takeRTCP().last ?? seeds[0]
        }
      for _ in 0..<Int(random.next() % 6) {
        guard !packet.isEmpty else { break }
        let place = Int(random.next() % UInt64(packet.count))
        switch random.next() % 4 {
        case 0: packet[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: packet[place] ^= 1 << UInt8(random.next() % 8)
        case 2: packet.removeSubrange(place...)
        default:
          packet.insert(
            contentsOf: random.bytes(Int(random.next() % 9)), at: place)
        }
      }
      // Both doors, whatever it is.
      bench.receive(packet)
      bench.receiveRTCP(packet)
      round += 1
      if round % 500 == 0 { _ = bench.takeRTP() }
    }
    let dropped = bench.session.dropped
    print("mutations \(seed): \(dropped), frames \(bench.frames.count)")
    #expect(dropped.malformedRTP + dropped.malformedRTCP > 500)
    #expect(bench.session.receiveStreams.count <= 2)
    // Time goes on without a spin.
    #expect(bench.pass(.seconds(10)) < 5_000)
    // And the session still works.
    bench.pass(.seconds(2))
    let before = stream.statistics.packetsSent
    bench.session.send(
      StampedFrame.video(index: 1, isKeyFrame: true, size: 2500, at: bench.now), on: stream,
      at: bench.now)
    bench.pass(.seconds(1))
    #expect(stream.statistics.packetsSent > before)
  }
}
