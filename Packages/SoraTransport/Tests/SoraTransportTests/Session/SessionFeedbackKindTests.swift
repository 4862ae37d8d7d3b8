import CSoraMallocCount
import SoraCongestion
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire
import Testing

/// Ways of congestion feedback beside the transport-wide one: by source with ECN marks (RFC 8888), and the receiver's own estimate.
@Suite struct SessionFeedbackKindTests {
  private func call(
    _ kind: CongestionFeedbackKind, _ pair: PeerPair, sendTimes: Bool = true
  ) throws -> MediaCall {
    try MediaCall(
      pair, maximumVideo: 5_500_000,
      sending: {
        $0.feedback = kind
        if kind != .transportWide { $0.extensions.transportSequenceNumber = nil }
        if !sendTimes { $0.extensions.absSendTime = nil }
      },
      receiving: {
        $0.feedback = kind
        if kind != .transportWide { $0.extensions.transportSequenceNumber = nil }
        if !sendTimes { $0.extensions.absSendTime = nil }
      })
  }

  @Test func feedbackBySourceFillsALinkAndFollowsIt() throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(20), bitsPerSecond: 20_000_000))
    let call = try call(.bySource, pair)
    let start = pair.network.now
    let reached = pair.network.run(
      until: { pair.a.session.estimatedBitrate >= 5_400_000 }, within: .seconds(20))
    let took = pair.network.now - start
    #expect(reached && took < .seconds(5), "\(took)")
    #expect(call.video.statistics.packetsDropped == 0)
    pair.link.forwardConditions.bitsPerSecond = 1_000_000
    pair.network.run(for: .seconds(3))
    // What a key frame overtakes, and nothing after that.
    let dropped = call.video.statistics.packetsDropped
    pair.network.run(for: .seconds(17))
    let limited = pair.a.session.estimatedBitrate
    print(
      "by source: 5.4 Mbit/s after \(took.inSeconds) s; on 1 Mbit/s \(limited), \(dropped) packets overtaken,",
      "a pause of \(call.longestPause.inMilliseconds) ms")
    #expect(limited < 1_150_000 && limited > 400_000, "\(limited)")
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(call.video.statistics.packetsDropped == dropped)
    #expect(call.longestPause < .seconds(1))
  }

  /// A queue that marks what comes faster than 1 Mbit/s, early, so that nothing else shows it.
  @Test(arguments: [ECNCodepoint.ect0, .ect1])
  func marksLowerTheRate(sentAs codepoint: ECNCodepoint) throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(20), bitsPerSecond: 20_000_000))
    let call = try call(.bySource, pair)
    var bits = 0.0
    var last = Instant.zero
    var marked = 0
    pair.b.mark = { size, now in
      // A bucket that runs out at 1 Mbit/s.
      bits = max(0, bits - (now - last).inSeconds * 1_000_000) + Double(size * 8)
      last = now
      guard bits > 60_000 else { return codepoint }
      marked += 1
      return .congestionExperienced
    }
    pair.network.run(for: .seconds(20))
    var sum = 0.0
    for _ in 0..<100 {
      pair.network.run(for: .milliseconds(100))
      sum += Double(pair.a.session.estimatedBitrate) / 100
    }
    print("marks as \(codepoint): \(marked) packets, estimate \(Int(sum)) on average")
    #expect(marked > 20)
    #expect(sum > 500_000 && sum < 1_600_000, "\(sum)")
    #expect(call.video.remote.packetsLost == 0)
  }

  private static let managed = LinkConditions(
    delay: .milliseconds(20), bitsPerSecond: 1_500_000, codel: CoDel(marks: true))

  /// A queue that marks in place of dropping, and packets that really leave marked: nothing is lost, and the rate is the link's.
  @Test func aQueueThatMarksLosesNothing() throws {
    let pair = try PeerPair(Self.managed)
    let call = try call(.bySource, pair)
    pair.network.run(for: .seconds(10))
    let early = pair.link.forwardStatistics
    pair.network.run(for: .seconds(20))
    let link = pair.link.forwardStatistics
    print(
      "marked \(link.marked) of \(link.deliveredPackets) packets, dropped \(link.dropped), estimate \(pair.a.session.estimatedBitrate)"
    )
    #expect(pair.a.session.ecnState == .capable)
    #expect(link.marked > early.marked && link.dropped == early.dropped)
    let sent = call.video.statistics
    let received = try #require(pair.b.session.receiveStreams.first { $0.jitterBuffer != nil })
      .statistics
    #expect(sent.packetsSentWithECT1 > sent.packetsSent * 9 / 10)
    #expect(
      received.packetsReceivedWithECT1 + received.packetsReceivedWithCE
        <= sent.packetsSentWithECT1)
    #expect(received.packetsReceivedWithECT1 > 1000 && received.packetsReceivedWithCE > 0)
    #expect(pair.a.session.estimatedBitrate > 800_000)
    #expect(pair.a.session.estimatedBitrate < 1_700_000)
  }

  /// Nobody marks what isn't reported on.
  @Test(arguments: [CongestionFeedbackKind.transportWide, .receiverEstimate])
  func otherFeedbackKeepsPacketsUnmarked(_ kind: CongestionFeedbackKind) throws {
    let pair = try PeerPair(Self.managed)
    let call = try call(kind, pair)
    pair.network.run(for: .seconds(10))
    #expect(call.video.statistics.packetsSentWithECT1 == 0)
    #expect(pair.link.forwardStatistics.marked == 0)
    #expect(call.video.statistics.packetsSent > 500)
  }

  /// A router on the way clears the bits: the first report says so, and the call goes on without.
  @Test func aPathThatClearsMarksIsLeftAlone() throws {
    var conditions = Self.managed
    conditions.clearsECN = true
    let pair = try PeerPair(conditions)
    let call = try call(.bySource, pair)
    pair.network.run(for: .seconds(10))
    #expect(pair.a.session.ecnState == .failed)
    let marked = call.video.statistics.packetsSentWithECT1
    #expect((1...10).contains(marked), "\(marked)")
    #expect(pair.link.forwardStatistics.marked == 0)
    #expect(pair.a.session.estimatedBitrate > 800_000)
  }

  @Test func onlyOneKindIsSent() throws {
    for kind in CongestionFeedbackKind.allCases {
      var kinds: Set<UInt8> = []
      let bench = SessionBench()
      var section = TestStreams.videoSection()
      section.feedback = kind
      if kind == .receiverEstimate { section.extensions.transportSequenceNumber = nil }
      bench.session.setReceiveSections([section], at: bench.now)
      for number in 0..<300 as Range<UInt16> {
        bench.receive(
          SessionBench.videoPacket(number: number, timestamp: UInt32(number) * 3000))
        bench.pass(.milliseconds(10))
      }
      for packet in bench.takeRTCP() {
        if packet.packet(205) != nil { kinds.insert(packet[0] & 0x1F) }
        if let remb = packet.packet(206), remb[0] & 0x1F == 15 { kinds.insert(99) }
      }
      switch kind {
      case .transportWide: #expect(kinds == [15])
      case .bySource: #expect(kinds == [11])
      case .receiverEstimate: #expect(kinds == [99])
      }
    }
  }

  @Test func aReceiverEstimateFollowsTheQueue() throws {
    let pair = try PeerPair(
      LinkConditions(delay: .milliseconds(30), bitsPerSecond: 1_500_000),
      backward: LinkConditions(delay: .milliseconds(30)))
    let call = try call(.receiverEstimate, pair)
    pair.network.run(for: .seconds(30))
    let settled = pair.a.session.estimatedBitrate
    pair.link.forwardConditions.bitsPerSecond = 600_000
    pair.network.run(for: .seconds(30))
    let limited = pair.a.session.estimatedBitrate
    print("receiver estimate: 1.5 Mbit/s link \(settled), 600 kbit/s link \(limited)")
    #expect(settled > 600_000 && settled < 1_800_000, "\(settled)")
    #expect(limited > 150_000 && limited < 750_000, "\(limited)")
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    _ = call
  }

  /// Nothing is known of the path then but what arrives.
  @Test func withoutSendTimesTheEstimateOnlyCapsGrowth() throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(30), bitsPerSecond: 20_000_000))
    let call = try call(.receiverEstimate, pair, sendTimes: false)
    var highest = 0.0
    for _ in 0..<20 {
      let before = call.bytesSent
      pair.network.run(for: .seconds(1))
      let sent = Double(call.bytesSent - before) * 8
      highest = max(highest, Double(pair.a.session.estimatedBitrate) / sent)
    }
    print(
      "no send times: estimate \(pair.a.session.estimatedBitrate), at most \(highest) times what was sent"
    )
    #expect(pair.a.session.estimatedBitrate > 1_000_000)
    #expect(highest < 2.5)
  }

  /// Both halves of feedback by source, packet for packet: noted when it leaves, when it comes, and when it is told of.
  @Test(.needsOptimizer) func feedbackBySourceAllocatesNothing() throws {
    let controller = SendController(
      configuration: .init(estimator: .init(start: .megabits(2), probes: false)))
    let generator = CongestionFeedbackGenerator()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1200, alignment: 16)
    defer { memory.deallocate() }
    var before: UInt64 = 0
    for index in 0..<12_000 {
      if index == 6000 { before = sora_malloc_count() }
      let now = Instant.zero + .milliseconds(2 * index)
      let ssrc: UInt32 = index % 5 == 0 ? 8 : 7
      let number = UInt16(truncatingIfNeeded: ssrc == 8 ? index / 5 : index)
      _ = controller.number(packetOf: 1000, source: (ssrc, number), at: now)
      let arrival = now + .milliseconds(20)
      if index % 50 != 9 {
        generator.received(ssrc: ssrc, sequenceNumber: number, ecn: .ect0, at: arrival)
      }
      try tell(controller, from: generator, through: memory, at: arrival)
      controller.poll(at: now)
    }
    let allocations = sora_malloc_count() - before
    #expect(controller.statistics.feedbackMessages > 400)
    #expect(allocations == 0)
  }

  /// A long call has more sources, one after the other, than are remembered at once.
  @Test func feedbackBySourceKnowsThoseThatComeLate() throws {
    let controller = SendController(
      configuration: .init(estimator: .init(start: .megabits(2), probes: false)))
    let generator = CongestionFeedbackGenerator()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1200, alignment: 16)
    defer { memory.deallocate() }
    var now = Instant.zero
    for ssrc in 1...100 as ClosedRange<UInt32> {
      var last: Int64 = 0
      for number in 0..<400 as Range<UInt16> {
        now = now + .milliseconds(2)
        last = controller.number(packetOf: 1000, source: (ssrc, number), at: now)
        generator.received(ssrc: ssrc, sequenceNumber: number, ecn: .ect0, at: now)
        try tell(controller, from: generator, through: memory, at: now)
      }
      #expect(controller.hasArrived(last - 100), "source \(ssrc)")
    }
  }

  /// Hands over what feedback is due.
  private func tell(
    _ controller: SendController, from generator: CongestionFeedbackGenerator,
    through memory: UnsafeMutableRawBufferPointer, at now: Instant
  ) throws {
    guard generator.isDue(at: now) else { return }
    var writer = RTCPWriter(into: memory)
    _ = try generator.write(into: &writer, sender: 5, reportTime: 0, at: now)
    var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: memory[..<writer.count]))
    if case .congestionFeedback(let message)? = try reader.next() {
      controller.received(message, at: now + .milliseconds(20))
    }
  }
}
