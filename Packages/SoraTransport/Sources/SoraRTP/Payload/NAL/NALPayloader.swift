import SoraMedia
import SoraWire

/// Cuts access units into payloads: units that fit together into one, others alone, and those that are larger than a packet
/// into fragments of nearly equal size (RFC 6184 §5.7.1 and §5.8; RFC 7798 §4.4.2 and §4.4.3).
final class NALPayloader<Syntax: NALSyntax>: RTPPayloader {
  /// One packet: whole units, or bytes of one unit behind its header.
  private struct Packet {
    var units: Range<Int>
    var fragment: Range<Int>?
  }

  /// Whether units may be put together and cut; without, each unit is a packet (RFC 6184 §6.2).
  private let isFlexible: Bool
  // Filled anew for each frame, in memory that stays.
  private var units: [Range<Int>] = []
  private var packets: [Packet] = []
  private var position = 0
  private var buffer: EncodedBuffer?

  init(isFlexible: Bool) { self.isFlexible = isFlexible }

  /// 0 also where a unit is larger than a packet and may not be cut.
  func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    buffer = nil
    position = 0
    units.removeAll(keepingCapacity: true)
    packets.removeAll(keepingCapacity: true)
    let bytes = frame.payload.span
    var found = AnnexBUnits(bytes)
    while let unit = found.next() {
      guard unit.count >= Syntax.headerCount else { continue }
      let header = Syntax.header(bytes.part(unit.lowerBound, unit.count))
      guard Syntax.isValid(header) else { continue }
      // Types that mean packets to a receiver can't travel; no codec makes them.
      switch Syntax.kind(Syntax.type(of: header)) {
      case .aggregation, .fragment, .unsupported: continue
      default: units.append(unit)
      }
    }
    guard !units.isEmpty, maximumPayload > Syntax.headerCount + 1,
      isFlexible || !units.contains(where: { $0.count > maximumPayload })
    else { return 0 }
    plan(maximumPayload)
    buffer = frame.payload
    return packets.count
  }

  private func plan(_ maximumPayload: Int) {
    var index = 0
    while index < units.count {
      let first = index
      index += 1
      if units[first].count > maximumPayload {
        cut(first, maximumPayload)
        continue
      }
      if isFlexible {
        var size = Syntax.headerCount + 2 + units[first].count
        while index < units.count, size + 2 + units[index].count <= maximumPayload {
          size += 2 + units[index].count
          index += 1
        }
      }
      packets.append(Packet(units: first..<index))
    }
  }

  private func cut(_ unit: Int, _ maximumPayload: Int) {
    let room = maximumPayload - Syntax.headerCount - 1
    let end = units[unit].count
    var offset = Syntax.headerCount
    // At least two, because the whole unit doesn't fit.
    var left = (end - offset + room - 1) / room
    while left > 0 {
      // What is left is shared evenly: sizes differ by one byte at most.
      let count = (end - offset) / left
      packets.append(Packet(units: unit..<unit + 1, fragment: offset..<offset + count))
      offset += count
      left -= 1
    }
  }

  func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let buffer, position < packets.count else { return nil }
    let packet = packets[position]
    position += 1
    let isLast = position == packets.count
    if isLast { self.buffer = nil }
    guard let count = unsafe target.withMutableRawSpan({ write(packet, buffer.span, to: &$0) })
    else {
      self.buffer = nil
      return nil
    }
    return RTPPayloadPart(count: count, marker: isLast)
  }

  /// The bytes written; `nil` where `target` is too short.
  private func write(
    _ packet: Packet, _ bytes: RawSpan, to target: inout MutableRawSpan
  ) -> Int? {
    let first = units[packet.units.lowerBound]
    var header = Syntax.header(bytes.part(first.lowerBound, first.count))
    if let fragment = packet.fragment {
      let start = Syntax.headerCount + 1
      guard target.byteCount >= start + fragment.count else { return nil }
      Syntax.write(Syntax.header(header, type: Syntax.fragmentType), to: &target)
      target.put8(
        (fragment.lowerBound == Syntax.headerCount ? 0x80 : 0)
          | (fragment.upperBound == first.count ? 0x40 : 0)
          | UInt8(truncatingIfNeeded: Syntax.type(of: header)), at: Syntax.headerCount)
      target.put(bytes.part(first.lowerBound + fragment.lowerBound, fragment.count), at: start)
      return start + fragment.count
    }
    guard packet.units.count > 1 else {
      guard target.byteCount >= first.count else { return nil }
      target.put(bytes.part(first.lowerBound, first.count), at: 0)
      return first.count
    }
    var offset = Syntax.headerCount
    for index in packet.units {
      let unit = units[index]
      guard target.byteCount >= offset + 2 + unit.count else { return nil }
      header = Syntax.merged(header, Syntax.header(bytes.part(unit.lowerBound, unit.count)))
      target.put16(UInt16(truncatingIfNeeded: unit.count), at: offset)
      target.put(bytes.part(unit.lowerBound, unit.count), at: offset + 2)
      offset += 2 + unit.count
    }
    Syntax.write(Syntax.header(header, type: Syntax.aggregationType), to: &target)
    return offset
  }
}
