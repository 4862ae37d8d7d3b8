import SoraDTLS
import SoraMedia
import SoraWire
import Testing

/// What is sent again, and when (RFC 6347 §4.2.4, RFC 9147 §5.8 and §7).
@Suite struct FlightSenderTests {
  private let patience = RetransmissionTimer.Patience(
    first: .milliseconds(50), longest: .milliseconds(150), limit: 4)
  private let start = Instant.zero

  private func record(_ sequence: UInt64) -> RecordNumber {
    RecordNumber(epoch: 0, sequence: sequence)
  }

  /// A sender of one message of 300 bytes, in three records.
  private func makeSender(awaitsAnswer: Bool = true) -> FlightSender {
    var sender = FlightSender(patience: patience)
    let message = sender.makeMessage(1, [UInt8](repeating: 7, count: 300))
    let parts = sender.begin(
      [Flight.Message(content: .handshake(message), epoch: 0)], awaitsAnswer: awaitsAnswer,
      at: start)
    #expect(parts == [Flight.Part(message: 0, range: 0..<300)])
    for index in 0..<3 {
      sender.note(
        record(UInt64(index)),
        of: Flight.Part(message: 0, range: (index * 100)..<(index * 100 + 100)))
    }
    return sender
  }

  @Test func timeoutsDoubleUntilPatienceEnds() throws {
    var sender = makeSender()
    var waits: [Duration] = []
    var now = start
    while let deadline = sender.deadline {
      waits.append(deadline - now)
      now = deadline
      guard sender.timedOut(at: now) != nil else { break }
      #expect(sender.doubtsLargeDatagrams == (waits.count >= 3))
    }
    #expect(waits == [50, 100, 150, 150, 150].map { .milliseconds($0) })
  }

  @Test func onlyWhatIsMissingIsSentAgain() throws {
    var sender = makeSender()
    guard case .partly(let lost) = sender.acknowledge([record(2)], at: start) else {
      Issue.record("the acknowledgement of a part isn't one")
      return
    }
    #expect(lost.map(\.range) == [0..<100, 100..<200])
    guard case .nothingNew = sender.acknowledge([record(2), record(9)], at: start) else {
      Issue.record("an acknowledgement counted twice")
      return
    }
    let deadline = try #require(sender.deadline)
    #expect(sender.timedOut(at: deadline)?.map(\.range) == [0..<200])
    guard case .whole = sender.acknowledge([record(0), record(1)], at: deadline) else {
      Issue.record("the flight isn't whole")
      return
    }
    #expect(!sender.hasFlight && sender.deadline == nil)
    #expect(sender.makeMessage(2, []).sequence == 1)
  }

  @Test func aRepetitionIsAnsweredOnceTheAnswerIsOverdue() {
    var sender = makeSender(awaitsAnswer: false)
    #expect(sender.deadline == nil)
    #expect(sender.peerRepeatedItself(at: start + .milliseconds(24)) == nil)
    #expect(sender.peerRepeatedItself(at: start + .milliseconds(25))?.count == 1)
    #expect(sender.peerRepeatedItself(at: start + .milliseconds(26)) == nil)
    #expect(sender.deadline == nil)
  }

  @Test func aSlowPathIsWaitedForLonger() {
    var sender = makeSender()
    sender.answered(at: start + .milliseconds(80))
    sender.answered(at: start + .milliseconds(90))
    let now = start + .milliseconds(100)
    let next = sender.makeMessage(2, [])
    _ = sender.begin(
      [Flight.Message(content: .handshake(next), epoch: 0)], awaitsAnswer: true, at: now)
    #expect(sender.deadline == now + .milliseconds(120))
    sender.stopTimer()
    #expect(sender.deadline == nil && sender.hasFlight)
  }

  @Test func acknowledgementsWaitForTheRestOfAFlight() {
    var acknowledgements = Acknowledgements()
    acknowledgements.wait(until: start)
    #expect(acknowledgements.deadline == nil)
    for sequence in (0..<UInt64(70)).reversed() { acknowledgements.add(record(sequence)) }
    acknowledgements.wait(until: start + .milliseconds(10))
    acknowledgements.wait(until: start + .milliseconds(5))
    #expect(acknowledgements.deadline == start + .milliseconds(10))
    #expect(acknowledgements.take() == (6..<70).map { record($0) })
    #expect(acknowledgements.isEmpty && acknowledgements.deadline == nil)
  }

  @Test func lockedRecordsAreTriedOnceForEachNewKeys() {
    var locked = LockedRecords()
    locked.keysCame()
    #expect(locked.takeOpenable() == nil)
    var kept = 0
    for index in 0..<UInt8(20) where locked.keep([index].rawSpan) { kept += 1 }
    #expect(kept == 16 && locked.takeOpenable() == nil)
    locked.keysCame()
    #expect(locked.takeOpenable() == (0..<16).map { [$0] })
    #expect(locked.takeOpenable() == nil && locked.count == 0)
  }
}
