import SoraWire

/// Makes repair packets of a group of packets: the XOR of some each, interleaved, so that a burst of losses hits each repair packet's
/// share once (RFC 5109 §8, draft-ietf-payload-flexible-fec-scheme-03 §5).
///
/// Nothing is allocated per packet once its rows have grown.
public struct FECEncoder: Sendable {
  /// Bytes of a protected packet at most.
  public static let maximumPacket = 1500

  public let format: FECFormat
  /// The stream that is protected, where repair packets name it.
  public var ssrc: UInt32?
  /// Packets of the group so far.
  public private(set) var packetCount = 0
  private var base: UInt16 = 0
  private var scratch = [UInt8](repeating: 0, count: maximumPacket)
  /// What was added, packet by packet: which repair packet it goes into is known only when the group is complete.
  private var packets: [UInt8] = []
  private var sizes: [(number: UInt16, fields: UInt16, timestamp: UInt32, count: Int)] = []

  public init(format: FECFormat) { self.format = format }

  /// Whether another packet can join the group.
  public func hasRoom(for number: UInt16) -> Bool {
    packetCount == 0 || Int(number &- base) < format.longestSpan
  }

  /// Adds a packet to the group. One that is too large, or beyond the group's span, goes unprotected.
  public mutating func add(_ packet: RawSpan, _ protected: FECPacket, number: UInt16) {
    guard protected.count <= Self.maximumPacket, protected.count >= RTPHeader.fixedCount,
      hasRoom(for: number)
    else { return }
    if packetCount == 0 { base = number }
    let start = packetCount * Self.maximumPacket
    if packets.count < start + Self.maximumPacket {
      packets.append(contentsOf: scratch)
    }
    packets.withMutableRawSpan { span in
      var target = span.part(start, Self.maximumPacket)
      protected.write(packet, into: &target)
    }
    if sizes.count == packetCount {
      sizes.append((number, protected.fields, protected.timestamp, protected.count))
    } else {
      sizes[packetCount] = (number, protected.fields, protected.timestamp, protected.count)
    }
    packetCount += 1
  }

  /// Begins the next group.
  public mutating func reset() { packetCount = 0 }

  /// Writes the payload of one repair packet of the group.
  ///
  /// - Parameters:
  ///   - index: which, 0 to below `repairs`.
  ///   - repairs: how many the group gets; packet `i` goes into number `i` modulo this.
  ///   - target: what lies behind is left alone.
  /// - Returns: how many bytes it took; 0 where there is nothing to protect, or no room.
  public func write(_ index: Int, of repairs: Int, into target: inout MutableRawSpan) -> Int {
    guard repairs > 0, index < min(repairs, packetCount) else { return 0 }
    var header = FECHeader(ssrc: ssrc, base: base, mask: 0)
    for position in stride(from: index, to: packetCount, by: repairs) {
      let (number, fields, timestamp, count) = sizes[position]
      header.mask |= 1 << UInt128(number &- base)
      header.fields ^= fields
      header.timestamp ^= timestamp
      let length = count - RTPHeader.fixedCount
      header.length ^= UInt16(truncatingIfNeeded: length)
      header.payloadCount = max(header.payloadCount, length)
    }
    let size = FECHeader.byteCount(format, span: header.span)
    guard header.payloadCount > 0, target.byteCount >= size + header.payloadCount else { return 0 }
    _ = header.write(format, into: &target)
    target.zero(size, header.payloadCount)
    let bytes = packets.rawSpan
    for position in stride(from: index, to: packetCount, by: repairs) {
      target.xor(
        bytes.part(
          position * Self.maximumPacket + RTPHeader.fixedCount,
          sizes[position].count - RTPHeader.fixedCount), at: size)
    }
    return size + header.payloadCount
  }
}
