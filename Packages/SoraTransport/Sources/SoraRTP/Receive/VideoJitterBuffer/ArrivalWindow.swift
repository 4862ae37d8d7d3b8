/// Which of a source's last sequence numbers have arrived (RFC 3550 A.1), and which of them carried nothing.
package struct ArrivalWindow {
  /// Where a number lies.
  package enum Placement: Equatable {
    case inside(Int64)
    /// Too old to be told from a new one.
    case late
    /// Far from the stream, and no packet has confirmed it.
    case jump
    /// The packet before it lay as far off: the source began anew. Nothing is known but this number.
    case restart(Int64)
  }

  /// Sequence numbers that the window spans: a power of two.
  package static let size = 2048
  /// RFC 3550 A.1: a larger jump is a restart of the source.
  private static let maximumDropout: Int64 = 3000

  private var extender = SequenceNumberExtender()
  private var restartCandidate: UInt16?
  /// The extended sequence numbers that arrived, by number modulo the window.
  private var arrived = [Int64](repeating: .min, count: ArrivalWindow.size)
  /// Those of them that carried nothing.
  private var padding = [Int64](repeating: .min, count: ArrivalWindow.size)

  package init() {}

  /// Extends the number of a packet.
  package mutating func place(_ number: UInt16, isRetransmission: Bool) -> Placement {
    guard let highest = extender.highest else { return .inside(extender.extend(number)) }
    let sequence = extender.peek(number)
    if abs(sequence - highest) > Self.maximumDropout {
      guard !isRetransmission, restartCandidate == number else {
        if !isRetransmission { restartCandidate = number &+ 1 }
        return .jump
      }
      restart()
      return .restart(extender.extend(number))
    }
    if !isRetransmission { restartCandidate = nil }
    guard sequence > highest - Int64(Self.size) else { return .late }
    return .inside(extender.extend(number))
  }

  private mutating func restart() {
    for index in arrived.indices {
      arrived[index] = .min
      padding[index] = .min
    }
    extender = SequenceNumberExtender()
    restartCandidate = nil
  }

  /// Whether a packet with this number arrived.
  package func contains(_ sequence: Int64) -> Bool { arrived[Self.index(sequence)] == sequence }

  /// Whether a packet without content arrived with this number.
  package func isPadding(_ sequence: Int64) -> Bool { padding[Self.index(sequence)] == sequence }

  package mutating func insert(_ sequence: Int64) { arrived[Self.index(sequence)] = sequence }

  package mutating func insertPadding(_ sequence: Int64) {
    insert(sequence)
    padding[Self.index(sequence)] = sequence
  }

  /// Forgets that a packet came, so that a retransmission is welcome.
  package mutating func remove(_ sequence: Int64) { arrived[Self.index(sequence)] = .min }

  private static func index(_ sequence: Int64) -> Int { Int(sequence & Int64(size - 1)) }
}
