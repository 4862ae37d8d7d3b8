/// Turns 16-bit sequence numbers into 64-bit ones that don't wrap.
///
/// Each number is taken as the one nearest to the highest seen so far, so reordering of up to 32,767 packets is
/// understood (RFC 3711 §3.3.1 uses the same rule for its index).
public struct SequenceNumberExtender: Sendable {
  /// The highest extended number so far; `nil` before the first.
  public private(set) var highest: Int64?

  public init() {}

  /// The extended form of `number`. The first number keeps its value; a later one may extend to a negative
  /// number when it lies before the first.
  @discardableResult
  public mutating func extend(_ number: UInt16) -> Int64 {
    let extended = peek(number)
    if extended > highest ?? .min { highest = extended }
    return extended
  }

  /// What `extend` would answer, without remembering it.
  public func peek(_ number: UInt16) -> Int64 {
    guard let highest else { return Int64(number) }
    let delta = Int16(truncatingIfNeeded: Int64(number) &- highest)
    return highest &+ Int64(delta)
  }
}

/// Turns 32-bit RTP timestamps into 64-bit ones that don't wrap.
public struct TimestampExtender: Sendable {
  private var last: Int64?

  public init() {}

  /// The extended form of `timestamp`: the one nearest to the last.
  @discardableResult
  public mutating func extend(_ timestamp: UInt32) -> Int64 {
    guard let last else {
      self.last = Int64(timestamp)
      return Int64(timestamp)
    }
    let delta = Int32(truncatingIfNeeded: Int64(timestamp) &- last)
    let extended = last &+ Int64(delta)
    self.last = extended
    return extended
  }
}

/// Whether sequence number `a` comes after `b`, wraps considered (RFC 1982 serial number arithmetic).
@inlinable
public func sequenceNumber(_ a: UInt16, isNewerThan b: UInt16) -> Bool {
  a != b && a &- b < 0x8000
}
