extension JSONValue {
  /// Reads one JSON text (RFC 8259). Of a repeated key the last value counts.
  ///
  /// - Throws: `malformedJSON`, `tooDeep` (more than `maximumDepth`) or `tooLarge`
  ///   (more than `maximumSize` bytes), with the offset in bytes.
  public init(
    parsing text: String, maximumSize: Int = maximumSize
  ) throws(SignalingError) {
    try self.init(parsing: Array(text.utf8), maximumSize: maximumSize)
  }

  /// Reads one JSON text from UTF-8 bytes.
  public init(
    parsing bytes: [UInt8], maximumSize: Int = maximumSize
  ) throws(SignalingError) {
    guard bytes.count <= maximumSize else {
      throw .json(.tooLarge, at: maximumSize, "the text has \(bytes.count) bytes")
    }
    var parser = JSONParser(bytes: bytes)
    self = try parser.parse()
  }
}

/// A recursive-descent reader; its depth is bounded, so the stack is too.
private struct JSONParser {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func parse() throws(SignalingError) -> JSONValue {
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw malformed("something follows the JSON value") }
    return value
  }

  private func malformed(_ detail: String) -> SignalingError {
    .json(.malformedJSON, at: position, detail)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(SignalingError) -> JSONValue {
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case .some(let byte) where byte == UInt8(ascii: "-") || isDigit(byte): return try number()
    case .some: throw malformed("a byte that starts no JSON value")
    case nil: throw malformed("the text ends where a value is expected")
    }
  }

  private mutating func word(
    _ word: String, _ value: JSONValue
  ) throws(SignalingError) -> JSONValue {
    for byte in word.utf8 {
      guard take(byte) else { throw malformed("expected \(word)") }
    }
    return value
  }

  private mutating func object(depth: Int) throws(SignalingError) -> JSONValue {
    guard depth < JSONValue.maximumDepth else { throw tooDeep() }
    position += 1
    var members: [String: JSONValue] = [:]
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw malformed("expected a key in quotes") }
      let key = try string()
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw malformed("expected a colon after a key") }
      skipSpace()
      members[key] = try value(depth: depth + 1)
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "}")) else { throw malformed("expected a comma or }") }
      return .object(members)
    }
  }

  private mutating func array(depth: Int) throws(SignalingError) -> JSONValue {
    guard depth < JSONValue.maximumDepth else { throw tooDeep() }
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      skipSpace()
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "]")) else { throw malformed("expected a comma or ]") }
      return .array(elements)
    }
  }

  private func tooDeep() -> SignalingError {
    .json(.tooDeep, at: position, "the JSON nests too deep")
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private mutating func digits() throws(SignalingError) {
    guard let byte = next, isDigit(byte) else { throw malformed("expected a digit") }
    while let byte = next, isDigit(byte) { position += 1 }
  }

  // RFC 8259 §6
  private mutating func number() throws(SignalingError) -> JSONValue {
    let start = position
    let isNegative = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    var isInteger = true
    if take(UInt8(ascii: ".")) {
      isInteger = false
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger {
      // "-0" is left to Double, which keeps its sign.
      if let value = Int64(text), !(isNegative && value == 0) { return .integer(value) }
      if !isNegative, let value = UInt64(text) { return .unsigned(value) }
    }
    guard let value = Double(text), value.isFinite else {
      throw malformed("a number is out of range")
    }
    return .double(value)
  }

  // RFC 8259 §7
  private mutating func string() throws(SignalingError) -> String {
    position += 1
    var content: [UInt8] = []
    while true {
      let start = position
      while let byte = next, byte != 0x22, byte != 0x5C, byte >= 0x20 { position += 1 }
      content.append(contentsOf: bytes[start..<position])
      switch next {
      case 0x22:
        position += 1
        guard let text = String(validating: content, as: UTF8.self) else {
          throw malformed("a string is not valid UTF-8")
        }
        return text
      case 0x5C:
        position += 1
        try escape(into: &content)
      case .some: throw malformed("a control character in a string must be escaped")
      case nil: throw malformed("the text ends inside a string")
      }
    }
  }

  private mutating func escape(into content: inout [UInt8]) throws(SignalingError) {
    guard let byte = next else { throw malformed("the text ends inside an escape") }
    position += 1
    switch byte {
    case 0x22, 0x5C, 0x2F: content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"): try unicodeEscape(into: &content)
    default: throw malformed("an unknown escape")
    }
  }

  private mutating func unicodeEscape(into content: inout [UInt8]) throws(SignalingError) {
    var scalar = UInt32(try fourHexDigits())
    if scalar >= 0xD800, scalar < 0xDC00, next == 0x5C, position + 1 < bytes.count,
      bytes[position + 1] == UInt8(ascii: "u")
    {
      let back = position
      position += 2
      let low = UInt32(try fourHexDigits())
      if low >= 0xDC00, low < 0xE000 {
        scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
      } else {
        position = back
      }
    }
    // JavaScript may escape half of a pair; a Swift string can't hold one.
    content.append(contentsOf: Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8))
  }

  private mutating func fourHexDigits() throws(SignalingError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue,
        byte < 0x80
      else { throw malformed("expected four hexadecimal digits") }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }
}
