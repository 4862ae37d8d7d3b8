extension String {
  /// The text as a terminal or a log may show it: what would move the cursor, begin a line or turn the direction of writing is
  /// written as an escape, such as `\n` or `\u{1b}`. For every text that comes from outside: names, reasons, identifiers.
  package var printable: String {
    guard unicodeScalars.contains(where: \.acts) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.acts: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether a terminal or an editor does something with it other than showing it.
  fileprivate var acts: Bool {
    switch value {
    // C0, DEL and C1.
    case 0..<0x20, 0x7F...0x9F: true
    // Line and paragraph separators.
    case 0x2028, 0x2029: true
    // Marks, embeddings, overrides and isolates of the direction (UAX #9).
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
