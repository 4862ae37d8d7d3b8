/// An IPv4 or IPv6 address without a port, kept as bits.
///
/// The text forms are dotted decimal for IPv4 and RFC 5952 for IPv6. Zone identifiers (`fe80::1%eth0`) are refused: they mean
/// something on one host only.
public struct IPAddress: Hashable, Sendable {
  // An IPv4 address lives in the low 32 bits of `low`.
  let high: UInt64
  let low: UInt64
  /// Whether this is an IPv4 address.
  public let isV4: Bool

  /// An IPv4 address from its 32 bits, most significant first: `0x7F000001` is 127.0.0.1.
  public init(v4 bits: UInt32) {
    high = 0
    low = UInt64(bits)
    isV4 = true
  }

  /// An IPv6 address from its two halves, most significant first: `(0, 1)` is ::1.
  public init(v6 bits: (UInt64, UInt64)) {
    high = bits.0
    low = bits.1
    isV4 = false
  }

  /// Whether this is an IPv6 address.
  public var isV6: Bool { !isV4 }

  /// The 32 bits of an IPv4 address, most significant first; `nil` for IPv6.
  public var v4Bits: UInt32? { isV4 ? UInt32(truncatingIfNeeded: low) : nil }

  /// The two halves of an IPv6 address, most significant first; `nil` for IPv4.
  public var v6Bits: (UInt64, UInt64)? { isV4 ? nil : (high, low) }

  /// 127.0.0.1.
  public static let loopbackV4 = IPAddress(v4: 0x7F00_0001)
  /// ::1.
  public static let loopbackV6 = IPAddress(v6: (0, 1))

  /// Whether the address never leaves the host: 127.0.0.0/8 or ::1.
  public var isLoopback: Bool { isV4 ? low >> 24 == 127 : high == 0 && low == 1 }

  /// Whether the address is valid on one link only: 169.254.0.0/16 or fe80::/10.
  public var isLinkLocal: Bool { isV4 ? low >> 16 == 0xA9FE : high >> 54 == 0x3FA }

  /// Whether the address means "any": 0.0.0.0 or ::.
  public var isUnspecified: Bool { high == 0 && low == 0 }

  /// Whether the address names a group: 224.0.0.0/4 or ff00::/8.
  public var isMulticast: Bool { isV4 ? low >> 28 == 0xE : high >> 56 == 0xFF }

  /// Whether this is an IPv6 spelling of an IPv4 address, ::ffff:0:0/96.
  public var isV4Mapped: Bool { !isV4 && high == 0 && low >> 32 == 0xFFFF }

  /// The address in network byte order: 4 or 16 bytes.
  public var bytes: [UInt8] {
    if isV4 { return [UInt8](bigEndian: UInt32(truncatingIfNeeded: low)) }
    return [UInt8](bigEndian: high) + [UInt8](bigEndian: low)
  }
}

extension IPAddress: LosslessStringConvertible {
  /// Reads `192.0.2.1`, `2001:db8::1` or `::ffff:192.0.2.1`. No brackets, no zone, no leading zeros in IPv4 parts.
  public init?(_ text: String) {
    let characters = Array(text.utf8.prefix(46))
    if let bits = IPAddress.parseV4(characters[...]) {
      self.init(v4: bits)
    } else if let bits = IPAddress.parseV6(characters) {
      self.init(v6: bits)
    } else {
      return nil
    }
  }

  /// Dotted decimal, or the canonical IPv6 form of RFC 5952.
  public var description: String {
    if isV4 { return IPAddress.dotted(UInt32(truncatingIfNeeded: low)) }
    // RFC 5952 §5: addresses known to embed IPv4 end in dotted decimal.
    if isV4Mapped { return "::ffff:" + IPAddress.dotted(UInt32(truncatingIfNeeded: low)) }
    let groups: [UInt16] = (0..<8).map { index in
      let half = index < 4 ? high : low
      return UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * (index & 3)))
    }
    // RFC 5952 §4.2: `::` stands for the longest run of two or more zero groups, the first of equals.
    var run = 0..<0
    var index = 0
    while index < 8 {
      var end = index
      while end < 8, groups[end] == 0 { end += 1 }
      if end - index >= 2, end - index > run.count { run = index..<end }
      index = max(end, index + 1)
    }
    func joined(_ part: ArraySlice<UInt16>) -> String {
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    if run.isEmpty { return joined(groups[...]) }
    return joined(groups[..<run.lowerBound]) + "::" + joined(groups[run.upperBound...])
  }

  private static func dotted(_ bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
  }

  private static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    var bits: UInt32 = 0
    var parts = 0
    var value: UInt32 = 0
    var digits = 0
    for character in text {
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        // A leading zero is refused: some parsers read such a part as octal.
        if digits > 0 && value == 0 { return nil }
        value = value * 10 + UInt32(character - UInt8(ascii: "0"))
        digits += 1
        if value > 255 || digits > 3 { return nil }
      case UInt8(ascii: "."):
        if digits == 0 || parts == 3 { return nil }
        bits = bits << 8 | value
        parts += 1
        value = 0
        digits = 0
      default: return nil
      }
    }
    return parts == 3 && digits > 0 ? bits << 8 | value : nil
  }

  // RFC 4291 §2.2.
  private static func parseV6(_ text: [UInt8]) -> (UInt64, UInt64)? {
    let colon = UInt8(ascii: ":")
    var groups: [UInt16] = []
    var gap: Int?
    var index = 0
    if text.count >= 2, text[0] == colon {
      guard text[1] == colon else { return nil }
      gap = 0
      index = 2
    }
    while index < text.count {
      guard groups.count < 8 else { return nil }
      let end = text[index...].firstIndex(of: colon) ?? text.count
      if end == text.count, groups.count <= 6, let bits = parseV4(text[index..<end]) {
        groups.append(UInt16(truncatingIfNeeded: bits >> 16))
        groups.append(UInt16(truncatingIfNeeded: bits))
        index = end
        break
      }
      guard end > index, end - index <= 4 else { return nil }
      var value: UInt16 = 0
      for character in text[index..<end] {
        guard let digit = character.hexadecimalDigitValue else { return nil }
        value = value << 4 | UInt16(digit)
      }
      groups.append(value)
      index = end
      guard index < text.count else { break }
      index += 1  // the colon
      if index < text.count, text[index] == colon {
        guard gap == nil else { return nil }
        gap = groups.count
        index += 1
      } else if index == text.count {
        return nil  // a lone colon at the end
      }
    }
    if let gap {
      guard groups.count < 8 else { return nil }
      groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { return nil }
    let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    return (high, low)
  }
}
