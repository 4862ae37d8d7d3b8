import SoraAudio

/// As much of the Ogg container as Opus files need (RFC 3533, RFC 7845): one stream, all packets of it.
struct OggOpus {
  struct NotOgg: Error {}

  var channels: Int
  /// Samples at the start that aren't part of the audio.
  var preSkip: Int
  var packets: [[UInt8]]

  init(channels: Int, preSkip: Int, packets: [[UInt8]]) {
    self.channels = channels
    self.preSkip = preSkip
    self.packets = packets
  }

  init(parsing file: [UInt8]) throws {
    var found: [[UInt8]] = []
    var packet: [UInt8] = []
    var offset = 0
    while offset + 27 <= file.count {
      guard file[offset..<(offset + 4)].elementsEqual("OggS".utf8) else { throw NotOgg() }
      let segments = Int(file[offset + 26])
      guard offset + 27 + segments <= file.count else { throw NotOgg() }
      var position = offset + 27 + segments
      for size in file[(offset + 27)..<(offset + 27 + segments)] {
        guard position + Int(size) <= file.count else { throw NotOgg() }
        packet += file[position..<(position + Int(size))]
        position += Int(size)
        // RFC 3533 §5: a segment of less than 255 bytes ends a packet.
        if size < 255 {
          found.append(packet)
          packet = []
        }
      }
      offset = position
    }
    guard found.count > 2, found[0].starts(with: "OpusHead".utf8), found[0].count >= 19 else {
      throw NotOgg()
    }
    channels = Int(found[0][9])
    preSkip = Int(found[0][10]) | Int(found[0][11]) << 8
    packets = Array(found[2...])
  }

  /// The file: a page for each header, then one for each packet.
  var bytes: [UInt8] {
    var head = Array("OpusHead".utf8) + [1, UInt8(channels)]
    head += [UInt8(preSkip & 255), UInt8(preSkip >> 8)] + [0x80, 0xBB, 0, 0] + [0, 0, 0]
    let tags = Array("OpusTags".utf8) + [1, 0, 0, 0, UInt8(ascii: "t"), 0, 0, 0, 0]
    var file = Self.page(head, flags: 2, position: 0, number: 0)
    file += Self.page(tags, flags: 0, position: 0, number: 1)
    var position = 0
    for (index, packet) in packets.enumerated() {
      position += packet.withUnsafeBytes { OpusPacket.sampleCount($0) ?? 0 }
      file += Self.page(
        packet, flags: index == packets.count - 1 ? 4 : 0, position: position,
        number: UInt32(index + 2))
    }
    return file
  }

  private static func page(_ packet: [UInt8], flags: UInt8, position: Int, number: UInt32)
    -> [UInt8]
  {
    var page = Array("OggS".utf8) + [0, flags]
    for shift in stride(from: 0, to: 64, by: 8) {
      page.append(UInt8(truncatingIfNeeded: position >> shift))
    }
    page += [1, 0, 0, 0]
    for shift in stride(from: 0, to: 32, by: 8) {
      page.append(UInt8(truncatingIfNeeded: number >> shift))
    }
    page += [0, 0, 0, 0]
    let full = packet.count / 255
    page.append(UInt8(full + 1))
    page += [UInt8](repeating: 255, count: full) + [UInt8(packet.count % 255)]
    page += packet
    // RFC 3533 §6: polynomial 0x04C11DB7, no reflection, initial value 0.
    var crc: UInt32 = 0
    for byte in page {
      crc ^= UInt32(byte) << 24
      for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
    }
    for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: crc >> UInt32(8 * index)) }
    return page
  }
}
