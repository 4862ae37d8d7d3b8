import SoraCongestion
import SoraMedia
import SoraRTP
import SoraWire

/// What has left and may still be reported on: gives packets their numbers and marks, and reads out of feedback what became of each.
final class SentPackets {
  /// What the latest feedback message says of packets that weren't known to have arrived, by their numbers. Its memory serves the next.
  @safe @exclusivity(unchecked) private(set) var results: [PacketFeedback] = []
  // Changed with every packet: as a class it is, the accesses needn't be checked for overlaps.
  private let ring = SentPacketRing()
  private let window: SendWindow
  @safe @exclusivity(unchecked) private var sourceNumbers = SentSourceNumbers()
  @safe @exclusivity(unchecked) private var marks: ECNValidation
  @safe @exclusivity(unchecked) private var timelines = (
    TransportFeedbackTimeline(), CongestionFeedbackTimeline()
  )

  /// - Parameters:
  ///   - window: is told what leaves and what is answered.
  ///   - ecn: what packets leave as whose feedback tells of marks, where the path carries them.
  init(window: SendWindow, ecn: ECNCodepoint) {
    self.window = window
    marks = ECNValidation(of: ecn)
  }

  var ecnState: ECNValidation.State { marks.state }
  /// What the next packet leaves as, if its feedback tells of marks.
  var codepoint: ECNCodepoint { marks.codepoint }
  /// Whether packets leave as those of L4S.
  var isScalable: Bool { marks.isScalable }
  /// The number that `append` gives out next.
  var nextSequence: Int64 { ring.nextSequence }

  // MARK: What leaves

  /// Takes the next number for a packet that leaves now; see `SendController.number`.
  func append(
    size: Int, probeCluster: Int?, source: (ssrc: UInt32, number: UInt16)?, at now: Instant
  ) -> Int64 {
    let sequence = ring.append(
      size: size, probeCluster: probeCluster, bytesUpTo: window.send(size, at: now),
      ecn: source == nil ? .notECT : marks.codepoint, at: now)
    if let source {
      sourceNumbers.note(ssrc: source.ssrc, number: source.number, sequence: sequence)
      marks.sent(at: now)
    }
    return sequence
  }

  /// A packet leaves again under its old number, unmarked: feedback is about this time then.
  func noteAgain(_ sequence: Int64, at now: Instant) { ring.noteAgain(sequence, at: now) }

  /// Whether feedback says that a packet has arrived; false where nothing is known of it any more.
  func hasArrived(_ sequence: Int64) -> Bool { ring.hasArrived(sequence) }

  /// Forgets what a source that ended has sent.
  func forget(ssrc: UInt32) { sourceNumbers.forget(ssrc: ssrc) }

  /// Another path may come: all that was on the way is gone, and marks are tried again.
  func pathLost() {
    window.forget()
    marks.startOver()
  }

  // MARK: What is said of it

  /// Reads transport-wide feedback.
  func read(_ message: TransportFeedback) {
    results.removeAll(keepingCapacity: true)
    let reference = timelines.0.reference(of: message)
    for status in message {
      add(
        ring.extend(status.sequenceNumber),
        arrival: status.nanosecondsFromReference.map {
          Instant(nanoseconds: reference.nanoseconds &+ $0)
        })
    }
  }

  /// Reads feedback by source (RFC 8888).
  func read(_ message: RTCPCongestionFeedback) {
    results.removeAll(keepingCapacity: true)
    let reportTime = timelines.1.reportTime(message.reportTime)
    for status in message {
      guard
        let sequence = sourceNumbers.sequence(ssrc: status.ssrc, number: status.sequenceNumber)
      else { continue }
      if ring.takeMark(of: sequence) { marks.reported(status.ecn) }
      if status.ecn != nil, status.age == nil {
        // It has come, nobody knows when: neither lost, nor of use to who watches delays.
        ring.markReported(sequence)
        continue
      }
      add(
        sequence,
        arrival: status.age.map { reportTime - CongestionFeedbackTimeline.duration(ofAge: $0) },
        ecn: status.ecn)
    }
    results.sortBySequence()
  }

  /// Notes what feedback says of one packet. What was reported lost may still be reported as arrived by a later message.
  private func add(_ sequence: Int64, arrival: Instant?, ecn: ECNCodepoint? = nil) {
    guard let entry = ring.unreported(sequence) else { return }
    if arrival != nil { ring.markReported(sequence) }
    window.answered(upTo: entry.bytesUpTo, next: ring.sendTime(of: sequence + 1))
    results.append(
      PacketFeedback(
        sequence: sequence, size: Int(entry.size), sendTime: entry.sendTime, arrivalTime: arrival,
        probeCluster: entry.probeCluster >= 0 ? Int(entry.probeCluster) : nil, ecn: ecn))
  }
}

extension [PacketFeedback] {
  /// Heap sort: no memory, and no order that costs more than another.
  fileprivate mutating func sortBySequence() {
    for root in stride(from: count / 2 - 1, through: 0, by: -1) { sink(root, below: count) }
    for end in stride(from: count - 1, to: 0, by: -1) {
      swapAt(0, end)
      sink(0, below: end)
    }
  }

  private mutating func sink(_ root: Int, below end: Int) {
    var root = root
    while 2 * root + 1 < end {
      var child = 2 * root + 1
      if child + 1 < end, self[child].sequence < self[child + 1].sequence { child += 1 }
      guard self[root].sequence < self[child].sequence else { return }
      swapAt(root, child)
      root = child
    }
  }
}
