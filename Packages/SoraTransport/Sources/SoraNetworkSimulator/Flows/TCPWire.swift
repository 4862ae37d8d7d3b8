/// What datagrams of a simulated TCP flow hold: numbers of segments, eight bytes each.
enum TCPWire {
  /// So that a datagram, with the simulator's 28 bytes of IP and UDP, is as large as the TCP packet that it stands for.
  static let fullSegment = 1_472
  static let acknowledgement = 24

  static func write(_ numbers: [Int64], size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(size, 8 * numbers.count))
    for number in numbers {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> Int64(8 * shift))) }
    }
    while bytes.count < size { bytes.append(0) }
    return bytes
  }
}
