import SoraMedia
import SoraRTP
import SoraWire
import Testing

/// Repair packets beside what their standards say: the numbers of RFC 5109's example, and the procedures of RFC 5109 and of
/// draft-ietf-payload-flexible-fec-scheme-03 written out byte by byte.
@Suite struct FECReferenceTests {
  private static let ssrc: UInt32 = 2

  private struct Packet {
    let number: UInt16
    let bytes: [UInt8]

    init(
      _ number: UInt16, type: UInt8, marker: Bool = false, timestamp: UInt32, _ payload: [UInt8]
    ) {
      self.number = number
      bytes =
        [0x80, type | (marker ? 0x80 : 0)] + [
          UInt8(number >> 8), UInt8(truncatingIfNeeded: number),
        ]
        + [timestamp, FECReferenceTests.ssrc].flatMap { value in
          [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        } + payload
    }

    func protected() throws -> FECPacket {
      let header = try RTPHeader(parsing: bytes.rawSpan)
      return FECPacket(
        bytes.rawSpan, header: header, payloadType: bytes[1] & 0x7F, map: RTPHeaderExtensionMap())
    }
  }

  private func feed(_ decoder: FECDecoder, _ packet: Packet) throws {
    let protected = try packet.protected()
    decoder.received(packet.bytes.rawSpan, protected, number: packet.number)
  }

  private func take(_ decoder: FECDecoder) -> [[UInt8]] {
    var recovered: [[UInt8]] = []
    while decoder.nextRecovered({ recovered.append([UInt8](copying: $0)) }) {}
    return recovered
  }

  /// Without anything clever: the XOR of the packets' first 8 bytes, lengths, and all bytes behind the fixed header, with a mask over
  /// the numbers from `base` on, which is the first packet's unless it is given (RFC 5109 §8.1 and §7.3; the draft's §6.2 and §4.2).
  private func repair(
    _ packets: [Packet], _ format: FECFormat = .uneven, base: UInt16? = nil
  ) -> [UInt8] {
    let base = base ?? packets[0].number
    let offsets = packets.map { Int($0.number &- base) }
    var start = [UInt8](repeating: 0, count: 8)
    var length = 0
    var rest = [UInt8](repeating: 0, count: packets.map(\.bytes.count).reduce(0, max) - 12)
    for packet in packets {
      for index in 0..<8 { start[index] ^= packet.bytes[index] }
      length ^= packet.bytes.count - 12
      for index in 12..<packet.bytes.count { rest[index - 12] ^= packet.bytes[index] }
    }
    start[0] &= 0x3F
    let (fields, timestamp, lengths) = (start[..<2], start[4...], bytes(length, 2))
    switch format {
    case .uneven:
      let isLong = offsets.contains { $0 >= 16 }
      let mask = bits(isLong ? 48 : 16) { offsets.contains($0) }
      return [fields[0] | (isLong ? 0x40 : 0), fields[1]] + bytes(Int(base), 2) + timestamp
        + lengths + bytes(rest.count, 2) + mask + rest
    case .flexible03:
      let span = (offsets.max() ?? 0) + 1
      // One bit in front of each part says whether it is the last.
      var mask = bits(16) { $0 == 0 ? span <= 15 : offsets.contains($0 - 1) }
      if span > 15 { mask += bits(32) { $0 == 0 ? span <= 46 : offsets.contains($0 + 14) } }
      if span > 46 { mask += bits(64) { $0 == 0 || offsets.contains($0 + 45) } }
      return fields + lengths + timestamp + [1, 0, 0, 0] + bytes(Int(Self.ssrc), 4)
        + bytes(Int(base), 2) + mask + rest
    }
  }

  private func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  /// The first bit is the highest of the first byte.
  private func bits(_ count: Int, _ isSet: (Int) -> Bool) -> [UInt8] {
    (0..<count / 8).map { byte in
      (0..<8).reduce(0) { $0 << 1 | (isSet(byte * 8 + $1) ? 1 : 0) }
    }
  }

  private func encoded(
    _ packets: [Packet], _ index: Int, of repairs: Int, _ format: FECFormat = .uneven
  ) throws -> [UInt8] {
    var encoder = FECEncoder(format: format)
    encoder.ssrc = Self.ssrc
    for packet in packets {
      let protected = try packet.protected()
      encoder.add(packet.bytes.rawSpan, protected, number: packet.number)
    }
    var bytes = [UInt8](repeating: 0xEE, count: 1500)
    let count = bytes.withMutableRawSpan { encoder.write(index, of: repairs, into: &$0) }
    return Array(bytes[..<count])
  }

  /// The example of RFC 5109 §10.1: four packets and one repair packet. It gives the headers; what the payloads are it leaves open, as
  /// does §10.2, whose second level isn't what anybody in WebRTC sends.
  @Test func theExampleOfTheRFCComesOut() throws {
    let random = RandomSource(seed: 1)
    let packets = [
      Packet(8, type: 11, marker: true, timestamp: 3, random.bytes(200)),
      Packet(9, type: 18, timestamp: 5, random.bytes(140)),
      Packet(10, type: 11, marker: true, timestamp: 7, random.bytes(100)),
      Packet(11, type: 18, timestamp: 9, random.bytes(340)),
    ]
    let payload = try encoded(packets, 0, of: 1)
    // E, L, P, X, CC, M and PT recovery are 0; base 8, timestamp 8, length 372; level 0 has 340 bytes of packets 0 to 3.
    #expect(payload[..<14] == [0, 0, 0, 8, 0, 0, 0, 8, 0x01, 0x74, 0x01, 0x54, 0xF0, 0])
    #expect(payload.count == 14 + 340)
    for lost in packets.indices {
      let decoder = FECDecoder(format: .uneven, ssrc: Self.ssrc)
      // Nothing is kept before a first repair packet.
      let earlier = Packet(5, type: 11, timestamp: 1, [1])
      try feed(decoder, earlier)
      decoder.receivedRepair(repair([earlier]).rawSpan)
      for (index, packet) in packets.enumerated() where index != lost { try feed(decoder, packet) }
      decoder.receivedRepair(payload.rawSpan)
      #expect(take(decoder).last == packets[lost].bytes)
    }
  }

  private func packets(_ count: Int, _ random: RandomSource) -> [Packet] {
    let first = UInt16(truncatingIfNeeded: random.next())
    return (0..<count).map { index in
      Packet(
        first &+ UInt16(index), type: 96, marker: random.next() % 4 == 0,
        timestamp: UInt32(truncatingIfNeeded: random.next()),
        random.bytes(1 + Int(random.next() % 300)))
    }
  }

  @Test(arguments: FECFormat.allCases, 1...100 as ClosedRange<UInt64>)
  func theEncoderWritesWhatTheStandardSays(format: FECFormat, seed: UInt64) throws {
    let random = RandomSource(seed: seed)
    let packets = packets(1 + Int(random.next() % UInt64(format.longestSpan)), random)
    let repairs = 1 + Int(random.next() % UInt64(min(packets.count, 6)))
    for index in 0..<repairs {
      let members = stride(from: index, to: packets.count, by: repairs).map { packets[$0] }
      // Every mask of a group counts from the group's first packet on.
      let expected = repair(members, format, base: packets[0].number)
      #expect(try encoded(packets, index, of: repairs, format) == expected)
    }
  }

  /// Random masks that overlap, random losses of packets and of repair packets, any order of arrival: what can be made anew one packet
  /// after the other (RFC 5109 §9.2) is, byte by byte, and nothing else comes out.
  @Test(arguments: FECFormat.allCases, 1...400 as ClosedRange<UInt64>)
  func allThatCanBeRecoveredIs(format: FECFormat, seed: UInt64) throws {
    let random = RandomSource(seed: seed &* 31)
    let packets = packets(2 + Int(random.next() % UInt64(format.longestSpan - 1)), random)
    let groups = (0..<1 + Int(random.next() % 12)).map { _ -> [Int] in
      let density = 2 + random.next() % 14
      let members = packets.indices.filter { _ in random.next() % 16 < density }
      return members.isEmpty ? [0] : members
    }
    let loss = 1 + random.next() % 40
    let isLost = packets.map { _ in random.next() % 100 < loss }
    let arrivedGroups = groups.filter { _ in random.next() % 100 >= loss }

    var missing = Set(packets.indices.filter { isLost[$0] })
    let lost = missing
    while let group = arrivedGroups.first(where: { missing.intersection($0).count == 1 }) {
      missing.subtract(group)
    }
    let recoverable = lost.subtracting(missing)

    let decoder = FECDecoder(format: format, ssrc: Self.ssrc)
    let earlier = Packet(packets[0].number &- 2, type: 96, timestamp: 1, [1])
    try feed(decoder, earlier)
    decoder.receivedRepair(repair([earlier], format).rawSpan)
    _ = take(decoder)
    var arriving: [(packet: Packet?, payload: [UInt8])] =
      packets.indices.filter { !isLost[$0] }.map { (packets[$0], []) }
    arriving += arrivedGroups.map { members in (nil, repair(members.map { packets[$0] }, format)) }
    var generator = random
    arriving.shuffle(using: &generator)
    for (packet, payload) in arriving {
      if let packet {
        try feed(decoder, packet)
      } else {
        let isRead = decoder.receivedRepair(payload.rawSpan)
        #expect(isRead)
      }
    }
    // What came late may have been made anew before.
    let recovered = take(decoder)
    #expect(Set(recovered).isSubset(of: packets.map(\.bytes)))
    #expect(Set(recovered).isSuperset(of: recoverable.map { packets[$0].bytes }))
    for index in missing { #expect(!recovered.contains(packets[index].bytes)) }
    #expect(Set(recovered).count == recovered.count)
  }
}
