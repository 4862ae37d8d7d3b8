import SoraMedia
import SoraRTP
import SoraWire
import Testing

/// ULPFEC beside what RFC 5109 itself says: its example's numbers, and its procedures written out byte by byte (§8.1, §9.2).
@Suite struct ULPFECReferenceTests {
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
        + [timestamp, ULPFECReferenceTests.ssrc].flatMap { value in
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

  /// RFC 5109 §8.1 and §7.3, without anything clever: the XOR of the packets' first 8 bytes, lengths, and all bytes behind the fixed
  /// header, with a mask over the numbers from the first on.
  private func repair(_ packets: [Packet]) -> [UInt8] {
    let base = packets[0].number
    let offsets = packets.map { Int($0.number &- base) }
    let isLong = offsets.contains { $0 >= 16 }
    var start = [UInt8](repeating: 0, count: 8)
    var length = 0
    var rest = [UInt8](repeating: 0, count: packets.map(\.bytes.count).reduce(0, max) - 12)
    var mask = [UInt8](repeating: 0, count: isLong ? 6 : 2)
    for (packet, offset) in zip(packets, offsets) {
      for index in 0..<8 { start[index] ^= packet.bytes[index] }
      length ^= packet.bytes.count - 12
      for index in 12..<packet.bytes.count { rest[index - 12] ^= packet.bytes[index] }
      mask[offset / 8] |= 0x80 >> UInt8(offset % 8)
    }
    start[0] = start[0] & 0x3F | (isLong ? 0x40 : 0)
    return start[..<2] + [UInt8(base >> 8), UInt8(truncatingIfNeeded: base)] + start[4...]
      + [UInt8(length >> 8), UInt8(truncatingIfNeeded: length)]
      + [UInt8(rest.count >> 8), UInt8(truncatingIfNeeded: rest.count)] + mask + rest
  }

  private func encoded(_ packets: [Packet], _ index: Int, of repairs: Int) throws -> [UInt8] {
    var encoder = FECEncoder(format: .uneven)
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

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func theEncoderWritesWhatTheRFCSays(seed: UInt64) throws {
    let random = RandomSource(seed: seed)
    let packets = packets(1 + Int(random.next() % 48), random)
    let repairs = 1 + Int(random.next() % UInt64(min(packets.count, 6)))
    for index in 0..<repairs {
      let members = stride(from: index, to: packets.count, by: repairs).map { packets[$0] }
      var expected = repair(members)
      // Ours counts every mask of a group from the group's first packet on.
      if index > 0 { expected = try rebased(expected, members, to: packets[0].number) }
      #expect(try encoded(packets, index, of: repairs) == expected)
    }
  }

  private func rebased(_ payload: [UInt8], _ members: [Packet], to base: UInt16) throws -> [UInt8] {
    let isLong = members.contains { $0.number &- base >= 16 }
    var mask = [UInt8](repeating: 0, count: isLong ? 6 : 2)
    for packet in members {
      let offset = Int(packet.number &- base)
      mask[offset / 8] |= 0x80 >> UInt8(offset % 8)
    }
    let header = payload[0] & 0x40 == 0 ? 14 : 18
    var result = Array(payload[..<12]) + mask + payload[header...]
    result[0] = result[0] & 0x3F | (isLong ? 0x40 : 0)
    result[2] = UInt8(base >> 8)
    result[3] = UInt8(truncatingIfNeeded: base)
    return result
  }

  /// Random masks that overlap, random losses of packets and of repair packets, any order of arrival: what can be made anew one packet
  /// after the other (RFC 5109 §9.2) is, byte by byte, and nothing else comes out.
  @Test(arguments: 1...400 as ClosedRange<UInt64>)
  func allThatCanBeRecoveredIs(seed: UInt64) throws {
    let random = RandomSource(seed: seed &* 31)
    let packets = packets(2 + Int(random.next() % 47), random)
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

    let decoder = FECDecoder(format: .uneven, ssrc: Self.ssrc)
    let earlier = Packet(packets[0].number &- 2, type: 96, timestamp: 1, [1])
    try feed(decoder, earlier)
    decoder.receivedRepair(repair([earlier]).rawSpan)
    _ = take(decoder)
    var arriving: [(packet: Packet?, payload: [UInt8])] =
      packets.indices.filter { !isLost[$0] }.map { (packets[$0], []) }
    arriving += arrivedGroups.map { members in (nil, repair(members.map { packets[$0] })) }
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
