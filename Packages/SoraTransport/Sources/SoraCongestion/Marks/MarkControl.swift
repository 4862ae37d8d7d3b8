import SoraWire

/// Turns marks of congestion into decreases. Two kinds of queue mark packets.
///
/// Classic ones do it in place of a drop (RFC 3168 §5), where a queue already stands: the answer is that to over-use, which is milder
/// than one to loss would be, as RFC 8511 §3 advises. Queues for L4S (RFC 9331 §5.2) mark early and often: the answer is in proportion
/// to the share of packets that were marked, as DCTCP's (RFC 8257 §3.3). Which of the two is expected, unmarked packets tell; a classic
/// queue that marks those of L4S all the same gives itself away by how long it stands (RFC 9331 §4.3).
struct MarkControl {
  /// What a window of feedback wants.
  enum Response: Equatable {
    case nothing
    /// As over-use: down to a share of what arrives.
    case overuse
    /// The rate times this.
    case reduce(Double)
  }

  /// RFC 8257 §3.3: g.
  private static let gain = 1.0 / 16
  private static let leastWindow: Int64 = 25_000_000
  /// Queues for L4S mark all there is long before this; classic ones let as much stand.
  private static let classicQueue: Int64 = 15_000_000

  /// RFC 8257 §3.3: the smoothed share of marked packets. Begins where the first answer is as large as the one to over-use.
  private(set) var share = 0.3
  private var marked = 0
  private var unmarked = 0
  /// Whether packets leave as those of L4S.
  private var isScalable = false
  private var windowStart: Int64?

  /// A packet has arrived with this codepoint.
  mutating func add(_ ecn: ECNCodepoint) {
    switch ecn {
    case .congestionExperienced: marked += 1
    case .ect1:
      unmarked += 1
      isScalable = true
    case .ect0, .notECT:
      unmarked += 1
      isScalable = false
    }
  }

  /// Looks at the packets of a round trip. An answer shows after one: sooner there is no other.
  ///
  /// - Parameters:
  ///   - roundTrip: nanoseconds.
  ///   - queued: nanoseconds that packets wait at present.
  ///   - now: the present time.
  mutating func update(roundTrip: Int64, queued: Int64, at now: Int64) -> Response {
    guard marked + unmarked > 0 else { return .nothing }
    if let windowStart, now &- windowStart < max(roundTrip, Self.leastWindow) {
      return .nothing
    }
    windowStart = now
    let fraction = Double(marked) / Double(marked + unmarked)
    let isMarked = marked > 0
    marked = 0
    unmarked = 0
    guard isScalable else { return isMarked ? .overuse : .nothing }
    share += Self.gain * (fraction - share)
    if isMarked, queued > Self.classicQueue { return .overuse }
    return isMarked ? .reduce(1 - share / 2) : .nothing
  }
}
