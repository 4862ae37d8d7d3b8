import SoraWire

extension ICECandidate: CustomStringConvertible {
  /// Reads a candidate line, `candidate:...`, with or without `a=` before it and a line end behind it.
  ///
  /// TCP candidates, host names, unknown types, transports and extensions are kept. A line may have 2048 bytes and 32 extensions.
  public init(parsing line: String) throws(ICEError) {
    let text = line.utf8
    guard text.count <= 2048 else {
      throw .malformedCandidate(field: "line", value: "\(text.count) bytes")
    }
    var rest = Substring(line)
    while let last = rest.utf8.last, last == 0x0D || last == 0x0A {
      rest = Substring(rest.utf8.dropLast())
    }
    if rest.hasPrefix("a=") { rest = rest.dropFirst(2) }
    guard rest.hasPrefix("candidate:") else {
      throw .malformedCandidate(field: "prefix", value: String(rest.prefix(32)))
    }
    let fields = rest.dropFirst(10).utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 80, omittingEmptySubsequences: false)
    var reader = FieldReader(fields: fields.map { String(Substring($0)) })

    let foundation = try reader.next("foundation") {
      (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy(isICECharacter) ? $0 : nil
    }
    let component = try reader.next("component") {
      decimal($0.utf8, limit: 256).flatMap { $0 >= 1 ? Int($0) : nil }
    }
    let transport = try reader.next("transport") { isToken($0) ? $0 : nil }
    let priority = try reader.next("priority") {
      decimal($0.utf8, limit: UInt64(UInt32.max)).map { UInt32($0) }
    }
    let addressText = try reader.next("address") { $0 }
    guard let address = ICEHostAddress(addressText) else {
      throw .malformedCandidate(field: "address", value: addressText)
    }
    let port = try reader.next("port") { decimal($0.utf8, limit: 65535).map { UInt16($0) } }
    _ = try reader.next("typ") { $0 == "typ" ? $0 : nil }
    let type = try reader.next("type") { isToken($0) ? ICECandidateType($0) : nil }

    var related: RelatedAddress?
    var relatedSpelling: String?
    if reader.peek == "raddr" {
      reader.skip()
      let text = try reader.next("raddr") { $0 }
      guard let address = ICEHostAddress(text) else {
        throw .malformedCandidate(field: "raddr", value: text)
      }
      related = RelatedAddress(address: address, port: nil)
      relatedSpelling = text
      if reader.peek == "rport" {
        reader.skip()
        related?.port = try reader.next("rport") {
          decimal($0.utf8, limit: 65535).map { UInt16($0) }
        }
      }
    }
    var extensions: [Extension] = []
    while reader.peek != nil {
      guard extensions.count < 32 else {
        throw .malformedCandidate(field: "extensions", value: "more than 32")
      }
      let name = try reader.next("extension name") { isVisible($0) ? $0 : nil }
      extensions.append(
        Extension(name: name, value: try reader.next(name) { isVisible($0) ? $0 : nil }))
    }
    self.init(
      foundation: foundation, component: component, transport: ICETransportProtocol(transport),
      priority: priority, address: address, port: port, type: type, relatedAddress: related,
      extensions: extensions)
    transportSpelling = transport
    addressSpelling = addressText
    self.relatedSpelling = relatedSpelling
  }

  /// The candidate as SDP and trickle messages carry it, `candidate:...`, without `a=`.
  public var sdp: String {
    // A spelling is used while it still means the same.
    let transportText =
      transportSpelling.flatMap { ICETransportProtocol($0) == transport ? $0 : nil }
      ?? transport.description
    var line = "candidate:\(foundation) \(component) \(transportText) \(priority) "
    line += "\(spelling(addressSpelling, of: address)) \(port) typ \(type)"
    if let relatedAddress {
      line += " raddr \(spelling(relatedSpelling, of: relatedAddress.address))"
      if let port = relatedAddress.port { line += " rport \(port)" }
    }
    for item in extensions { line += " \(item.name) \(item.value)" }
    return line
  }

  public var description: String { sdp }

  private func spelling(_ text: String?, of address: ICEHostAddress) -> String {
    text.flatMap { ICEHostAddress($0) == address ? $0 : nil } ?? address.description
  }
}

/// Hands out the fields of a candidate line one by one.
private struct FieldReader {
  let fields: [String]
  var index = 0

  var peek: String? { index < fields.count ? fields[index] : nil }

  mutating func skip() { index += 1 }

  mutating func next<Value>(_ name: String, _ read: (String) -> Value?) throws(ICEError) -> Value {
    guard let text = peek else { throw .malformedCandidate(field: name, value: "") }
    guard let value = read(text) else {
      throw .malformedCandidate(field: name, value: String(text.prefix(64)))
    }
    index += 1
    return value
  }
}

/// RFC 8839 §5.1: `ice-char`.
func isICECharacter(_ character: UInt8) -> Bool {
  switch character {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
    true
  default: false
  }
}

/// RFC 8866 §9: `token`.
private func isToken(_ text: String) -> Bool {
  !text.isEmpty
    && text.utf8.allSatisfy { character in
      switch character {
      case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
      default: false
      }
    }
}

private func isVisible(_ text: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
}
