import SoraMedia
import SoraRTP
import SoraWire
import Testing

/// Repair packets made by one end and used by the other.
@Suite struct FECRecoveryTests {
  private static let ssrc: UInt32 = 0xABCD_0001

  /// Packets of one stream with extensions, padding, markers and sizes of all kinds.
  private func makePackets(_ count: Int, from first: UInt16, seed: UInt64) throws -> [[UInt8]] {
    let random = RandomSource(seed: seed)
    return try (0..<count).map { index in
      var values = RTPHeaderExtensions()
      if index % 3 == 0 { values.mid = RTPExtensionText("video") }
      values.absSendTime = 0
      values.transportSequenceNumber = 0
      return try rtpPacket(
        RTPHeader(
          payloadType: 96, sequenceNumber: first &+ UInt16(index),
          timestamp: 90_000 + UInt32(index / 5) * 3000, ssrc: Self.ssrc, marker: index % 5 == 4),
        extensions: values, map: Self.map,
        payload: random.bytes(1 + Int(random.next() % 1100)), padding: index % 7 == 6 ? 5 : 0)
    }
  }

  private static var map: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    map.mid = 1
    map.absSendTime = 2
    map.transportSequenceNumber = 3
    return map
  }

  private func protected(_ packet: [UInt8]) throws -> FECPacket {
    let header = try RTPHeader(parsing: packet.rawSpan)
    return FECPacket(packet.rawSpan, header: header, payloadType: 96, map: Self.map)
  }

  private func feed(_ decoder: FECDecoder, _ packet: [UInt8], _ number: UInt16) throws {
    let protected = try protected(packet)
    decoder.received(packet.rawSpan, protected, number: number)
  }

  @discardableResult
  private func repair(_ decoder: FECDecoder, _ payload: [UInt8]) -> Bool {
    decoder.receivedRepair(payload.rawSpan)
  }

  private func repairs(
    _ packets: [[UInt8]], first: UInt16, count: Int, _ format: FECFormat
  ) throws -> [[UInt8]] {
    var encoder = FECEncoder(format: format)
    encoder.ssrc = Self.ssrc
    for (index, packet) in packets.enumerated() {
      let protected = try protected(packet)
      encoder.add(packet.rawSpan, protected, number: first &+ UInt16(index))
    }
    return (0..<count).map { index in
      var bytes = [UInt8](repeating: 0xEE, count: 1500)
      let size = bytes.withMutableRawSpan { encoder.write(index, of: count, into: &$0) }
      return Array(bytes[..<size])
    }
  }

  private func take(_ decoder: FECDecoder) -> [[UInt8]] {
    var recovered: [[UInt8]] = []
    while decoder.nextRecovered({ recovered.append([UInt8](copying: $0)) }) {}
    return recovered
  }

  /// A decoder that has been told of a stream's beginning, and so keeps packets.
  private func startedDecoder(_ format: FECFormat, before first: UInt16) throws -> FECDecoder {
    let decoder = FECDecoder(format: format, ssrc: Self.ssrc)
    let packets = try makePackets(2, from: first &- 2, seed: 1)
    for (index, packet) in packets.enumerated() {
      try feed(decoder, packet, first &- 2 &+ UInt16(index))
    }
    for payload in try repairs(packets, first: first &- 2, count: 1, format) {
      let isRead = repair(decoder, payload)
      #expect(isRead)
    }
    // The first packets weren't kept, as nobody knew that there would be repair; both are missing, which is too much.
    #expect(take(decoder).isEmpty)
    return decoder
  }

  @Test(arguments: FECFormat.allCases, [1, 5, 14, 16, 40, 48])
  func eachLossIsMadeAnew(format: FECFormat, count: Int) throws {
    let first: UInt16 = 65_530
    let packets = try makePackets(count, from: first, seed: UInt64(count))
    let repairs = try repairs(packets, first: first, count: 1, format)
    for lost in 0..<count {
      let decoder = try startedDecoder(format, before: first)
      for (index, packet) in packets.enumerated() where index != lost {
        // Stamped on the way: what is stamped counts as zeros.
        var stamped = packet
        let header = try RTPHeader(parsing: packet.rawSpan)
        for id in [2, 3] as [UInt8] {
          let found = header.extensionRange(id: id, in: packet.rawSpan)
          let range = try #require(found)
          for position in range { stamped[position] = UInt8(truncatingIfNeeded: index + 3) }
        }
        try feed(decoder, stamped, first &+ UInt16(index))
      }
      repair(decoder, repairs[0])
      #expect(take(decoder) == [packets[lost]], "packet \(lost) of \(count)")
      #expect(decoder.statistics.packetsRecovered == 1)
    }
  }

  @Test func longMasksReachFar() throws {
    let packets = try makePackets(109, from: 100, seed: 4)
    let repairs = try repairs(packets, first: 100, count: 1, .flexible03)
    let decoder = try startedDecoder(.flexible03, before: 100)
    for (index, packet) in packets.enumerated() where index != 108 {
      try feed(decoder, packet, 100 + UInt16(index))
    }
    repair(decoder, repairs[0])
    #expect(take(decoder) == [packets[108]])
  }

  /// Interleaved repair packets make a whole burst anew, in any order of arrival.
  @Test(arguments: FECFormat.allCases, 0..<20)
  func aBurstIsMadeAnew(format: FECFormat, seed: Int) throws {
    let random = RandomSource(seed: UInt64(seed))
    let packets = try makePackets(20, from: 500, seed: UInt64(seed))
    let repairs = try repairs(packets, first: 500, count: 4, format)
    let decoder = try startedDecoder(format, before: 500)
    let burst = Int(random.next() % 17)
    var arriving: [(number: Int?, bytes: [UInt8])] = packets.enumerated()
      .filter { !(burst..<burst + 4).contains($0.offset) }.map { ($0.offset, $0.element) }
    arriving += repairs.map { (nil, $0) }
    for index in arriving.indices {
      arriving.swapAt(index, index + Int(random.next() % UInt64(arriving.count - index)))
    }
    var recovered: [[UInt8]] = []
    for (number, bytes) in arriving {
      if let number {
        try feed(decoder, bytes, 500 + UInt16(number))
      } else {
        repair(decoder, bytes)
      }
      recovered += take(decoder)
    }
    // A packet that came behind the repair may have been made anew before.
    for lost in burst..<burst + 4 { #expect(recovered.contains(packets[lost])) }
    for packet in recovered { #expect(packets.contains(packet)) }
  }

  @Test func whatIsntNeededIsDiscarded() throws {
    let packets = try makePackets(6, from: 10, seed: 2)
    let repairs = try repairs(packets, first: 10, count: 2, .uneven)
    let decoder = try startedDecoder(.uneven, before: 10)
    let before = decoder.statistics.fecPacketsDiscarded
    for (index, packet) in packets.enumerated() where index != 1 && index != 3 {
      try feed(decoder, packet, 10 + UInt16(index))
    }
    // Nothing of the first repair packet's is missing; of the second's two packets are.
    repair(decoder, repairs[0])
    #expect(decoder.statistics.fecPacketsDiscarded == before + 1)
    repair(decoder, repairs[1])
    #expect(take(decoder).isEmpty && decoder.statistics.fecPacketsDiscarded == before + 1)
    // One of them comes late, and the other is made anew.
    try feed(decoder, packets[3], 13)
    #expect(take(decoder) == [packets[1]])
    // Another stream's, and one that can't be read.
    var isRead = repair(decoder, [1, 2, 3])
    #expect(!isRead)
    let flexible = FECDecoder(format: .flexible03, ssrc: 1)
    try feed(flexible, packets[0], 10)
    let other = try self.repairs(packets, first: 10, count: 1, .flexible03)
    isRead = repair(flexible, other[0])
    #expect(!isRead)
    #expect(flexible.statistics.fecPacketsReceived == 1)
    #expect(flexible.statistics.fecPacketsDiscarded == 1)
    #expect(flexible.statistics.fecBytesReceived == UInt64(other[0].count))
  }

  @Test func repairThatNobodyUsesDoesntPileUp() throws {
    let decoder = try startedDecoder(.uneven, before: 0)
    for group in 0..<300 {
      let first = UInt16(group * 4)
      let packets = try makePackets(4, from: first, seed: UInt64(group))
      let repairs = try repairs(packets, first: first, count: 1, .uneven)
      // Only the last packet of each group comes.
      try feed(decoder, packets[3], first + 3)
      repair(decoder, repairs[0])
    }
    #expect(take(decoder).isEmpty)
    #expect(decoder.statistics.fecPacketsReceived == 301)
    #expect(decoder.statistics.fecPacketsDiscarded > 220)
  }
}
