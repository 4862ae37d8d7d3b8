import SoraMedia
import SoraRTP
import SoraWire
import Testing

/// Feedback by source (RFC 8888).
@Suite struct CongestionFeedbackTests {
  private typealias Status = RTCPCongestionFeedback.Status

  private func read(_ bytes: [UInt8]) throws -> (statuses: [Status], reportTime: UInt32) {
    try withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      guard case .congestionFeedback(let feedback)? = try reader.next() else {
        Issue.record("no feedback")
        return ([], 0)
      }
      return (Array(feedback), feedback.reportTime)
    }
  }

  private func take(
    _ generator: CongestionFeedbackGenerator, capacity: Int = 1200, reportTime: UInt32 = 1,
    at now: Instant
  ) throws -> (bytes: [UInt8], more: Bool) {
    var more = false
    let bytes = try rtcp(capacity: capacity) { writer in
      more = try generator.write(into: &writer, sender: 5, reportTime: reportTime, at: now)
    }
    return (bytes, more)
  }

  /// Laid out by hand after RFC 8888 §3.1: two sources, the first with an odd number of packets and so with padding.
  private static let handBuilt: [UInt8] = [
    0x8B, 205, 0, 9, 0, 0, 0, 5,
    0, 0, 0, 7, 0xFF, 0xFF, 0, 3,
    // Received and marked CE 2/1024 s ago; not received; received as ECT(1), over-range.
    0xE0, 0x02, 0x00, 0x00, 0xBF, 0xFE, 0x00, 0x00,
    0, 0, 0, 8, 0, 9, 0, 1,
    // Received as ECT(0), nobody knows when.
    0xDF, 0xFF, 0x00, 0x00,
    0x12, 0x34, 0x80, 0x00,
  ]

  @Test func handBuiltBytesAreUnderstood() throws {
    let (statuses, time) = try read(Self.handBuilt)
    #expect(
      statuses == [
        Status(ssrc: 7, sequenceNumber: 65_535, ecn: .congestionExperienced, age: 2),
        Status(ssrc: 7, sequenceNumber: 0, ecn: nil, age: nil),
        Status(ssrc: 7, sequenceNumber: 1, ecn: .ect1, age: 0x1FFE),
        Status(ssrc: 8, sequenceNumber: 9, ecn: .ect0, age: nil),
      ])
    #expect(time == 0x1234_8000)
  }

  @Test func theGeneratorWritesTheSameBytes() throws {
    let generator = CongestionFeedbackGenerator()
    let now = Instant.zero + .seconds(100)
    generator.received(ssrc: 7, sequenceNumber: 65_535, ecn: .ect0, at: now - .milliseconds(2))
    // A copy of it was marked.
    generator.received(
      ssrc: 7, sequenceNumber: 65_535, ecn: .congestionExperienced, at: now - .milliseconds(1))
    generator.received(ssrc: 7, sequenceNumber: 1, ecn: .ect1, at: now - .seconds(50))
    generator.received(ssrc: 8, sequenceNumber: 9, ecn: .ect0, at: now + .milliseconds(1))
    let (bytes, more) = try take(generator, reportTime: 0x1234_8000, at: now)
    #expect(bytes == Self.handBuilt)
    #expect(!more && generator.nextDeadline == nil)
    #expect(generator.packetsRecorded == 3 && generator.packetsIgnored == 1)
  }

  /// A call may outlive many sources: each renegotiation and each change of a track can bring new ones.
  @Test func sourcesThatEndedMakeRoomForNewOnes() throws {
    let generator = CongestionFeedbackGenerator()
    var now = Instant.zero + .seconds(1)
    for ssrc in 1...200 as ClosedRange<UInt32> {
      // The first goes on all the time.
      for source in [1, ssrc] {
        generator.received(
          ssrc: source, sequenceNumber: UInt16(ssrc), ecn: .notECT, at: now)
      }
      let reported = try read(take(generator, at: now).bytes).statuses
      #expect(Set(reported.map(\.ssrc)) == [1, ssrc])
      now = now + .milliseconds(100)
    }
    now = now + .seconds(5)
    // More at once than there is room for.
    for ssrc in 1001...1100 as ClosedRange<UInt32> {
      generator.received(ssrc: ssrc, sequenceNumber: 7, ecn: .notECT, at: now)
    }
    #expect(generator.packetsIgnored == 36 + 1)
  }

  @Test func whatComesLateIsReportedAgainWithWhatFollows() throws {
    let generator = CongestionFeedbackGenerator()
    let now = Instant.zero + .seconds(1)
    for number in [10, 11, 13, 14] as [UInt16] {
      generator.received(ssrc: 1, sequenceNumber: number, ecn: .notECT, at: now)
    }
    #expect(generator.nextDeadline == now + .milliseconds(50))
    let first = try read(take(generator, at: now).bytes).statuses
    #expect(first.map(\.sequenceNumber) == [10, 11, 12, 13, 14])
    #expect(first.map { $0.ecn != nil } == [true, true, false, true, true])
    generator.received(ssrc: 1, sequenceNumber: 12, ecn: .notECT, at: now + .milliseconds(30))
    let second = try read(take(generator, at: now + .milliseconds(60)).bytes).statuses
    #expect(second.map(\.sequenceNumber) == [12, 13, 14])
    #expect(second.allSatisfy { $0.ecn == .notECT })
    #expect(second.map(\.age) == [30, 61, 61])
    #expect(try take(generator, at: now + .seconds(1)).bytes.isEmpty)
  }

  @Test func whatDoesntFitIsTheNextMessages() throws {
    let generator = CongestionFeedbackGenerator()
    let now = Instant.zero + .seconds(1)
    for number in 0..<300 as Range<UInt16> {
      for ssrc in 1...3 as ClosedRange<UInt32> {
        generator.received(ssrc: ssrc, sequenceNumber: number, ecn: .notECT, at: now)
      }
    }
    var reported: [UInt32: [UInt16]] = [:]
    var more = true
    var messages = 0
    while more, messages < 20 {
      let message = try take(generator, capacity: 400, at: now)
      #expect(message.bytes.count <= 400)
      for status in try read(message.bytes).statuses {
        reported[status.ssrc, default: []].append(status.sequenceNumber)
      }
      more = message.more
      messages += 1
    }
    #expect(messages == 5)
    for ssrc in 1...3 as ClosedRange<UInt32> { #expect(reported[ssrc] == Array(0..<300)) }
    #expect(throws: RTPError.self) {
      generator.received(ssrc: 1, sequenceNumber: 300, ecn: .notECT, at: now)
      _ = try take(generator, capacity: 20, at: now)
    }
  }

  @Test func memoryIsBounded() throws {
    let generator = CongestionFeedbackGenerator()
    let now = Instant.zero + .seconds(1)
    for ssrc in 0..<200 as Range<UInt32> {
      generator.received(ssrc: ssrc, sequenceNumber: 1, ecn: .notECT, at: now)
    }
    #expect(generator.packetsRecorded == 64 && generator.packetsIgnored == 136)
    // A jump begins anew; one within bounds doesn't.
    generator.received(ssrc: 0, sequenceNumber: 30_000, ecn: .notECT, at: now)
    generator.received(ssrc: 1, sequenceNumber: 4000, ecn: .notECT, at: now)
    var counts: [UInt32: Int] = [:]
    var more = true
    while more {
      let message = try take(generator, capacity: 60_000, at: now)
      for status in try read(message.bytes).statuses { counts[status.ssrc, default: 0] += 1 }
      more = message.more
    }
    #expect(counts[0] == 1 && counts[1] == 4000 && counts.count == 64)
    generator.forget(ssrc: 1)
    generator.received(ssrc: 900, sequenceNumber: 1, ecn: .notECT, at: now)
    #expect(try read(take(generator, at: now).bytes).statuses.map(\.ssrc) == [900])
  }

  @Test(arguments: [
    // Too short for a report time, more packets than there are bytes, half a source, too many packets.
    [0x8B, 205, 0, 1, 0, 0, 0, 5],
    [0x8B, 205, 0, 4, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 9],
    [0x8B, 205, 0, 3, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 9],
    [0x8B, 205, 0, 4, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0x40, 1, 0, 0, 0, 9],
  ])
  func contradictionsAreRefused(_ bytes: [UInt8]) throws {
    withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      #expect(throws: RTPError.malformedFeedback(packetType: 205, format: 11)) {
        _ = try reader.next()
      }
    }
  }

  @Test func reportTimesDontWrap() {
    var timeline = CongestionFeedbackTimeline()
    let before = timeline.reportTime(0xFFFF_8000)
    let after = timeline.reportTime(0x0000_8000)
    #expect(after - before == .seconds(1))
    #expect(CongestionFeedbackTimeline.duration(ofAge: 1024) == .seconds(1))
  }
}
