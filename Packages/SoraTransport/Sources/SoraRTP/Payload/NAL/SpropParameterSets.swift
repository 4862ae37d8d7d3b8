/// Parameter sets in a description: base64 (RFC 4648 §4) with commas between (`sprop-parameter-sets` of RFC 6184 §8.1,
/// `sprop-vps`, `sprop-sps` and `sprop-pps` of RFC 7798 §7.1).
enum SpropParameterSets {
  /// Longer lists are cut.
  private static let maximumCount = 32

  /// The units that can be read; others are left out.
  static func units(_ text: String) -> [[UInt8]] {
    text.utf8.prefix(65_536).split(separator: UInt8(ascii: ","), maxSplits: maximumCount)
      .prefix(maximumCount).compactMap { decode($0) }.filter { !$0.isEmpty }
  }

  private static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var value: UInt32 = 0
    var bits = 0
    var isPadded = false
    for character in text {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): digit = 62
      case UInt8(ascii: "/"): digit = 63
      case UInt8(ascii: "="):
        isPadded = true
        continue
      default: return nil
      }
      if isPadded { return nil }
      value = (value << 6 | UInt32(digit)) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        result.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
      }
    }
    return result
  }
}
