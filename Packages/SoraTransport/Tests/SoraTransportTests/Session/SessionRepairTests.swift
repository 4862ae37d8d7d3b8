import CSoraMallocCount
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire
import Testing

/// Forward error correction through whole sessions.
@Suite struct SessionRepairTests {
  static let kinds: [RTPForwardErrorCorrection?] = [
    nil, .uneven(red: 98, payloadType: 99, rtx: 100), .flexible(ssrc: 1777, payloadType: 35),
  ]

  private func call(
    _ kind: RTPForwardErrorCorrection?, loss: Double, nack: Bool,
    delay: Duration = .milliseconds(40)
  ) throws -> (pair: PeerPair, call: MediaCall) {
    let pair = try PeerPair(
      seed: 31, LinkConditions(delay: delay, loss: loss), backward: LinkConditions(delay: delay))
    let call = try MediaCall(
      pair, maximumVideo: 1_500_000, nack: nack,
      sending: { if $0.kind == .video { $0.repair = kind } },
      receiving: { section in
        guard section.kind == .video else { return }
        // Both may be agreed on; what is sent is one of them.
        guard kind != nil else { return }
        section.payloads += [
          .init(type: 98, codecName: "red", clockRate: 90_000),
          .init(type: 99, codecName: "ulpfec", clockRate: 90_000),
          .init(type: 100, codecName: "rtx", clockRate: 90_000, associatedType: 98),
          .init(type: 35, codecName: "flexfec-03", clockRate: 90_000),
        ]
      })
    return (pair, call)
  }

  /// Far away, where a retransmission comes late, repair packets spare most of the key frames that losses would cost.
  @Test(arguments: kinds)
  func lossesAreRepairedWithoutAsking(_ kind: RTPForwardErrorCorrection?) throws {
    let (pair, call) = try call(kind, loss: 0.03, nack: false)
    pair.network.run(for: .seconds(40))
    let sent = call.video.statistics
    let stream = try #require(call.received)
    let fec = stream.statistics.fec
    print(
      "FEC \(kind.map { "\($0)" } ?? "none"), 3 % loss, no NACK: \(pair.b.frames.count) of \(sent.framesSent) "
        + "frames, \(sent.pliCount) PLIs, \(sent.fecPacketsSent) repair packets beside \(sent.packetsSent), \(fec)"
    )
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(pair.b.frames.map(\.index) == pair.b.frames.map(\.index).sorted())
    #expect(call.pair.b.session.dropped.unknownPayloadType == 0)
    let share = Double(pair.b.frames.count) / Double(sent.framesSent)
    guard kind != nil else {
      #expect(fec == FECDecoder.Statistics() && sent.fecPacketsSent == 0)
      #expect(share < 0.5)
      return
    }
    #expect(share > 0.8, "\(share)")
    #expect(fec.packetsRecovered > 100)
    #expect(fec.fecPacketsReceived > 0 && fec.fecPacketsReceived <= sent.fecPacketsSent)
    #expect(fec.fecPacketsDiscarded < fec.fecPacketsReceived && fec.fecBytesReceived > 10_000)
    // What was made anew stays lost in reports, or there would be no more repair.
    #expect(call.video.remote.packetsLost > 100)
  }

  /// With retransmissions beside it, nothing is made or asked for twice with harm.
  @Test(arguments: kinds)
  func repairAndRetransmissionsGoTogether(_ kind: RTPForwardErrorCorrection?) throws {
    let (pair, call) = try call(kind, loss: 0.05, nack: true)
    pair.network.run(for: .seconds(40))
    let sent = call.video.statistics
    print(
      "FEC \(kind.map { "\($0)" } ?? "none"), 5 % loss, NACK: \(pair.b.frames.count) of \(sent.framesSent) frames, "
        + "\(sent.retransmittedPacketsSent) sent again, longest pause \(call.longestPause.inMilliseconds) ms"
    )
    #expect(pair.b.frames.count >= Int(sent.framesSent) - 10)
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(sent.retransmittedPacketsSent > 20)
    if kind != nil {
      #expect(try #require(call.received).statistics.fec.packetsRecovered > 50)
    }
  }

  /// A link that loses nothing gets no repair packets, and pays for none.
  @Test(arguments: kinds)
  func withoutLossesThereIsNoRepair(_ kind: RTPForwardErrorCorrection?) throws {
    let (pair, call) = try call(kind, loss: 0, nack: true)
    pair.network.run(for: .seconds(10))
    #expect(call.video.statistics.fecPacketsSent == 0)
    #expect(pair.b.frames.count >= Int(call.video.statistics.framesSent) - 5)
  }

  /// Repair packets make no stream, and take no stream's place.
  /// Who reports with every request has reports of a few packets each, and several between two frames: it is the counts that tell.
  @Test func manySmallReportsTellOfTheSameLoss() throws {
    let pair = try PeerPair(seed: 31, LinkConditions(delay: .milliseconds(40)))
    let call = try MediaCall(
      pair, maximumVideo: 1_500_000,
      sending: {
        if $0.kind == .video { $0.repair = .uneven(red: 98, payloadType: 99, rtx: 100) }
      })
    pair.network.run(for: .seconds(1))
    let session = pair.a.session
    // What went well is told last each time, and the link itself loses nothing.
    for index in 0..<100 {
      pair.network.run(for: .milliseconds(50))
      let number = UInt32(1_000 + 10 * index)
      for (fraction, lost, highest) in [
        (UInt8(64), Int32(index + 1), number), (0, Int32(index + 1), number + 3),
      ] {
        let report = SessionBench.rtcp { writer throws(RTPError) in
          try writer.receiverReport(
            sender: 7,
            blocks: [
              RTCPReportBlock(
                ssrc: 1000, fractionLost: fraction, cumulativeLost: lost,
                extendedHighestSequence: highest, jitter: 0, lastSenderReport: 0,
                delaySinceLastSenderReport: 0)
            ])
        }
        report.withUnsafeBytes { session.receiveRTCP($0, at: pair.network.now) }
      }
    }
    let sent = call.video.statistics
    print(
      "one of ten lost, in small reports: \(sent.fecPacketsSent) repair packets of \(sent.packetsSent)"
    )
    #expect(sent.fecPacketsSent > 50, "\(sent.fecPacketsSent)")
  }

  @Test func repairAloneIsNoStream() throws {
    let bench = SessionBench()
    var section = TestStreams.videoSection()
    section.payloads += [
      .init(type: 98, codecName: "red", clockRate: 90_000),
      .init(type: 99, codecName: "ulpfec", clockRate: 90_000),
      .init(type: 35, codecName: "flexfec-03", clockRate: 90_000),
    ]
    section.repairPairs = [(primary: 1000, repair: 1777)]
    bench.session.setReceiveSections([section], at: bench.now)
    for type in [99, 35] as [UInt8] {
      bench.receive(
        SessionBench.videoPacket(number: 1, timestamp: 0, ssrc: 1777, payloadType: type))
    }
    #expect(bench.session.receiveStreams.isEmpty && bench.session.dropped.unknownSource == 2)
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0))
    bench.receive(SessionBench.videoPacket(number: 5, timestamp: 0, ssrc: 1778, payloadType: 99))
    bench.receive(SessionBench.videoPacket(number: 5, timestamp: 0, ssrc: 1777, payloadType: 35))
    // Of the stream itself, without RED around it; and RED with nothing inside that is known.
    bench.receive(SessionBench.videoPacket(number: 2, timestamp: 0, payloadType: 99))
    bench.receive(SessionBench.videoPacket(number: 3, timestamp: 0, payloadType: 98))
    let stream = try #require(bench.session.receiveStreams.first)
    #expect(bench.session.receiveStreams.count == 1 && stream.ssrc == 1000)
    #expect(bench.session.dropped.unknownSource == 3)
    #expect(bench.session.dropped.unknownPayloadType == 1)
    #expect(stream.statistics.packetsDiscarded == 2)
    #expect(stream.statistics.fec.fecPacketsReceived == 1)
    #expect(stream.statistics.fec.fecPacketsDiscarded == 1)
    #expect(bench.frames.count == 1)
  }

  /// In steady state neither making repair packets nor using them allocates.
  @Test(.needsOptimizer, arguments: FECFormat.allCases)
  func repairAllocatesNothing(_ format: FECFormat) throws {
    var encoder = FECEncoder(format: format)
    encoder.ssrc = 1000
    let decoder = FECDecoder(format: format, ssrc: 1000)
    var repair = [UInt8](repeating: 0, count: 1500)
    var packet = SessionBench.videoPacket(number: 0, timestamp: 0)
    var recovered = 0
    var before: UInt64 = 0
    for number in 0..<4000 as Range<UInt16> {
      if number == 1000 { before = sora_malloc_count() }
      packet[2] = UInt8(number >> 8)
      packet[3] = UInt8(truncatingIfNeeded: number)
      let header = try RTPHeader(parsing: packet.rawSpan)
      let protected = FECPacket(
        packet.rawSpan, header: header, payloadType: 96, map: TestStreams.extensions)
      encoder.add(packet.rawSpan, protected, number: number)
      if number % 10 != 7 { decoder.received(packet.rawSpan, protected, number: number) }
      if number % 20 == 19 {
        for index in 0..<3 {
          let count = repair.withMutableRawSpan { encoder.write(index, of: 3, into: &$0) }
          decoder.receivedRepair(repair.rawSpan.part(0, count))
        }
        encoder.reset()
      }
      while decoder.nextRecovered({ recovered += $0.byteCount > 0 ? 1 : 0 }) {}
    }
    let allocations = sora_malloc_count() - before
    #expect(recovered >= 390)
    #expect(allocations == 0)
  }
}
