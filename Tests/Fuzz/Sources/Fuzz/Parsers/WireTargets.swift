import SoraWire

extension FuzzTarget {
  /// The readers that all parsers stand on: the input says which reads to make of the rest of it, and each must give what the
  /// bytes, picked one by one, say; or nothing, where they end.
  static var wire: FuzzTarget {
    FuzzTarget(
      "wire", maximumLength: 600,
      seeds: [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [5, 0x81, 0x80, 0x00, 5, 0xFF, 0xFF, 0xFF, 0x1F],
        [6, 200, 6, 3, 1, 2, 3],
      ]
    ) { input in
      let bytes = Array(input)
      readBytes(bytes)
      readBits(bytes)
    }
  }

  private static func readBytes(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes.rawSpan)
    var at = 0
    func number(_ size: Int) -> UInt64? {
      guard bytes.count - at >= size else { return nil }
      return bytes[at..<at + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    for choice in bytes.prefix(64) {
      var size = 0
      switch choice % 8 {
      case 0:
        size = 1
        check(reader.u8().map(UInt64.init) == number(1), "u8")
      case 1:
        size = 2
        check(reader.u16().map(UInt64.init) == number(2), "u16")
      case 2:
        size = 3
        check(reader.u24().map(UInt64.init) == number(3), "u24")
      case 3:
        size = 4
        check(reader.u32().map(UInt64.init) == number(4), "u32")
      case 4:
        size = 8
        check(reader.u64() == number(8), "u64")
      case 5:
        let before = reader.offset
        let value = reader.leb128()
        check(value ?? 0 <= Int(UInt32.max), "a LEB128 of more than 32 bits")
        check(reader.offset - before <= 8, "a LEB128 of more than 8 bytes")
        at = reader.offset
        continue
      default:
        size = Int(choice) - 100
        if let taken = reader.take(size) {
          check([UInt8](copying: taken) == Array(bytes[at..<at + size]), "take")
        } else {
          check(size < 0 || size > bytes.count - at, "take refused what is there")
        }
      }
      if size >= 0, size <= bytes.count - at { at += size }
      check(reader.offset == at && reader.remaining == bytes.count - at, "the position")
    }
  }

  private static func readBits(_ bytes: [UInt8]) {
    var reader = BitReader(bytes.rawSpan)
    var at = 0
    for choice in bytes.prefix(64) {
      let width = Int(choice % 33)
      var expected: UInt32 = 0
      for bit in at..<at + width {
        let byte = bit >> 3 < bytes.count ? bytes[bit >> 3] : 0
        expected = expected << 1 | UInt32(byte >> UInt8(7 - bit & 7)) & 1
      }
      check(reader.read(width) == expected, "bits")
      at += width
      check(reader.isExhausted == (at > bytes.count * 8), "the end of the bits")
    }
  }
}
