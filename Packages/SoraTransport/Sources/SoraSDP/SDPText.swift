/// Small readers over the UTF-8 of attribute values. They never look at grapheme clusters, so that a combining
/// character after a space can't hide the space.
package enum SDPText {
  /// The words between spaces; empty ones are skipped.
  package static func words(_ text: String) -> [Substring] { words(text[...]) }

  package static func words(_ text: Substring) -> [Substring] {
    text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
      .map { Substring($0) }
  }

  /// The parts between a separator, empty ones included; at most `maximum` splits. Never empty.
  package static func split(
    _ text: Substring, on separator: Unicode.Scalar, maximum: Int = .max
  ) -> [Substring] {
    text.utf8.split(
      separator: UInt8(truncatingIfNeeded: separator.value), maxSplits: maximum,
      omittingEmptySubsequences: false
    ).map { Substring($0) }
  }

  /// A decimal number of digits alone: no sign, no space, no overflow.
  package static func decimal<Number: FixedWidthInteger>(_ text: Substring) -> Number? {
    guard !text.isEmpty, text.utf8.count <= 20,
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Number(text)
  }

  /// Without spaces and tabs at both ends.
  package static func trimmed(_ text: Substring) -> Substring {
    var bytes = text.utf8
    while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
    return Substring(bytes)
  }

  /// ASCII letters compared without case.
  package static func equalIgnoringCase(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool
  {
    let lower = { (byte: UInt8) in
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
    return a.utf8.count == b.utf8.count
      && zip(a.utf8, b.utf8).allSatisfy { lower($0) == lower($1) }
  }
}
