/// Transmission sequence numbers, extended to 64 bits at the door: comparing them is comparing numbers.
enum TSN {
  /// The number near `reference` whose low 32 bits are `wire` (serial number arithmetic, RFC 1982).
  @inline(__always)
  static func extended(_ wire: UInt32, near reference: Int64) -> Int64 {
    let difference = Int32(bitPattern: wire &- UInt32(truncatingIfNeeded: reference))
    return reference &+ Int64(difference)
  }

  @inline(__always)
  static func wire(_ extended: Int64) -> UInt32 { UInt32(truncatingIfNeeded: extended) }
}
