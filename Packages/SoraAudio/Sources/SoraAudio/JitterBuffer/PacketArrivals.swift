/// Which packets of a stream came: continues their numbers and timestamps beyond the bits that RTP has for them, from the newest on.
package struct PacketArrivals {
  /// nil before the first packet.
  private var newestSequenceNumber: Int64?
  private var newestTimestamp: Int64 = 0
  /// Which of the last ones came, a bit each: the newest one's is the lowest.
  private var received: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { newestSequenceNumber == nil }

  /// Continues 16 bits from the newest number (RFC 3550 §A.1 in spirit): the nearest one is meant.
  package func extend(_ number: UInt16) -> Int64 {
    guard let newest = newestSequenceNumber else { return Int64(number) }
    return newest + Int64(Int16(truncatingIfNeeded: Int64(number) &- newest))
  }

  package func extend(_ timestamp: UInt32) -> Int64 {
    guard newestSequenceNumber != nil else { return Int64(timestamp) }
    return newestTimestamp &+ Int64(Int32(truncatingIfNeeded: Int64(timestamp) &- newestTimestamp))
  }

  /// Whether a packet came; true, too, where that is unknown: before and after those that are remembered.
  package func contains(_ sequence: Int64) -> Bool {
    guard let newest = newestSequenceNumber, newest - sequence < 64, sequence <= newest else {
      return true
    }
    return received & 1 << UInt64(newest - sequence) != 0
  }

  /// Notes a packet.
  ///
  /// - Returns: whether it is the newest one.
  package mutating func insert(_ sequence: Int64, timestamp: Int64) -> Bool {
    guard let newest = newestSequenceNumber else {
      (newestSequenceNumber, newestTimestamp, received) = (sequence, timestamp, 1)
      return true
    }
    let ahead = sequence - newest
    guard ahead > 0 else {
      if ahead > -64 { received |= 1 << UInt64(-ahead) }
      return false
    }
    (newestSequenceNumber, newestTimestamp) = (sequence, timestamp)
    received = ahead < 64 ? received << UInt64(ahead) | 1 : 1
    return true
  }
}
