import SoraMedia
import SoraRTP
import SoraWire

extension FuzzTarget {
  private static func repairSeed(_ format: FECFormat) -> [UInt8] {
    var encoder = FECEncoder(format: format)
    encoder.ssrc = 7
    for number in 0..<6 as Range<UInt16> {
      let packet = mediaPacket(number)
      encoder.add(packet.rawSpan, protected(packet), number: number)
    }
    var bytes = [UInt8](repeating: 0, count: 1500)
    let count = bytes.withMutableRawSpan { encoder.write(0, of: 1, into: &$0) }
    return [format == .uneven ? 0 : 1] + bytes[..<count]
  }

  private static func mediaPacket(_ number: UInt16) -> [UInt8] {
    rtpPacket(
      RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: 9000, ssrc: 7),
      payload: Array(repeating: UInt8(truncatingIfNeeded: number), count: 20 + Int(number % 5)))
  }

  private static func protected(_ packet: [UInt8]) -> FECPacket {
    guard let header = try? RTPHeader(parsing: packet.rawSpan) else {
      fatalError("fuzz: a seed packet doesn't parse")
    }
    return FECPacket(packet.rawSpan, header: header, payloadType: 96, map: extensionMap)
  }

  /// One repair packet of either layout, and what comes out of it where one packet is missing.
  static var repairPacket: FuzzTarget {
    FuzzTarget(
      "repair-packet", seeds: [repairSeed(.uneven), repairSeed(.flexible03)]
    ) { input in
      let bytes = Array(input)
      guard let first = bytes.first else { return }
      let payload = Array(bytes.dropFirst())
      let format: FECFormat = first & 1 == 0 ? .uneven : .flexible03
      if let header = try? FECHeader(parsing: payload.rawSpan, format: format) {
        check(header.payloadOffset + header.payloadCount <= payload.count, "beyond the packet")
        check(header.mask >> UInt128(format.longestSpan) == 0, "a mask of too many packets")
      }
      let decoder = FECDecoder(format: format, ssrc: 7)
      for number in 0..<40 as Range<UInt16> where number % 8 != 3 {
        let packet = mediaPacket(number)
        decoder.received(packet.rawSpan, protected(packet), number: number)
        if number % 5 == 0 { decoder.receivedRepair(payload.rawSpan) }
        drain(decoder)
      }
    }
  }

  /// The receiver's half: packets of both kinds in any order.
  static var repairDecoder: FuzzTarget {
    func seed() -> [[UInt8]] {
      var script = ScriptWriter()
      for index in 0..<30 {
        script.byte(index % 6 == 5 ? 0 : 1)
        script.number16(65_520 + index)
      }
      return [script.bytes]
    }
    return FuzzTarget("repair-decoder", maximumLength: 600, seeds: seed()) { bytes in
      var input = FuzzInput(bytes)
      let decoder = FECDecoder(format: .uneven, ssrc: 7)
      var encoder = FECEncoder(format: .uneven)
      while !input.isAtEnd {
        let choice = input.byte()
        let packet = mediaPacket(input.number16())
        guard let header = try? RTPHeader(parsing: packet.rawSpan) else { return }
        let number = header.sequenceNumber
        if choice & 1 != 0 { decoder.received(packet.rawSpan, protected(packet), number: number) }
        if choice & 2 == 0 {
          if !encoder.hasRoom(for: number) { encoder.reset() }
          encoder.add(packet.rawSpan, protected(packet), number: number)
        }
        if choice & 4 != 0 {
          var repair = [UInt8](repeating: 0, count: 1500)
          let count = repair.withMutableRawSpan { encoder.write(0, of: 1, into: &$0) }
          if count > 0 { decoder.receivedRepair(repair.rawSpan.part(0, count)) }
          encoder.reset()
        }
        drain(decoder)
      }
      let statistics = decoder.statistics
      check(
        statistics.fecPacketsDiscarded <= statistics.fecPacketsReceived, "more dropped than came")
    }
  }

  private static func drain(_ decoder: FECDecoder) {
    var count = 0
    while decoder.nextRecovered({ packet in
      check((try? RTPHeader(parsing: packet)) != nil, "what was made anew isn't a packet")
    }) {
      count += 1
      check(count <= 256, "recovery without end")
    }
  }
}
