/// The extensions this project knows, by their number in IANA's registry.
enum ExtensionType {
  static let supportedGroups: UInt16 = 10
  static let pointFormats: UInt16 = 11
  static let signatureAlgorithms: UInt16 = 13
  static let useSRTP: UInt16 = 14
  static let extendedMasterSecret: UInt16 = 23
  static let supportedVersions: UInt16 = 43
  static let cookie: UInt16 = 44
  static let keyShare: UInt16 = 51
  static let renegotiationInfo: UInt16 = 0xFF01
}

/// Extensions as they come: a type and a body each, no type twice (RFC 8446 §4.2).
struct ExtensionList {
  private var items: [(type: UInt16, body: [UInt8])] = []

  init() {}

  /// Reads the rest of a hello, where 1.2 allows that there are no extensions at all.
  init(_ reader: inout WireReader) throws(HandshakeFailure) {
    if reader.isAtEnd { return }
    var list = try reader.vector16()
    while !list.isAtEnd {
      let type = try list.read16()
      var body = try list.vector16()
      guard self[type] == nil else { throw .illegalParameter("an extension came twice") }
      // A hello has some twenty; checking for doubles mustn't become expensive.
      guard items.count < 100 else { throw .decode("too many extensions") }
      items.append((type, body.rest()))
    }
  }

  var types: [UInt16] { items.map(\.type) }

  subscript(type: UInt16) -> [UInt8]? { items.first { $0.type == type }?.body }

  func reader(_ type: UInt16) -> WireReader? { self[type].map { WireReader($0) } }

  /// The numbers of an extension that is one vector of 16-bit numbers.
  func numbers(_ type: UInt16) throws(HandshakeFailure) -> [UInt16]? {
    guard var reader = reader(type) else { return nil }
    var vector = try reader.vector16()
    let values = try vector.numbers16()
    try reader.finish()
    return values
  }

  /// The content of an extension that is one vector of up to 255 bytes.
  func shortBytes(_ type: UInt16) throws(HandshakeFailure) -> [UInt8]? {
    guard var reader = reader(type) else { return nil }
    var vector = try reader.vector8()
    let bytes = vector.rest()
    try reader.finish()
    return bytes
  }

  /// The content of an extension that is one vector of up to 65,535 bytes.
  func longBytes(_ type: UInt16) throws(HandshakeFailure) -> [UInt8]? {
    guard var reader = reader(type) else { return nil }
    var vector = try reader.vector16()
    let bytes = vector.rest()
    try reader.finish()
    return bytes
  }

  /// Whether `extended_master_secret` is there, which has no content (RFC 7627 §5.1).
  func hasExtendedMasterSecret() throws(HandshakeFailure) -> Bool {
    guard let body = self[ExtensionType.extendedMasterSecret] else { return false }
    guard body.isEmpty else { throw .decode("extended_master_secret isn't empty") }
    return true
  }

  mutating func add(_ type: UInt16, _ body: [UInt8] = []) { items.append((type, body)) }

  mutating func add(_ type: UInt16, _ write: (inout [UInt8]) -> Void) {
    var body: [UInt8] = []
    write(&body)
    add(type, body)
  }

  mutating func add(_ type: UInt16, numbers: [UInt16]) {
    add(type) { $0.appendVector16 { for number in numbers { $0.append16(number) } } }
  }

  /// A value behind its length in one byte, where there is one.
  mutating func add(_ type: UInt16, short value: [UInt8]?) {
    if let value { add(type) { $0.appendVector8 { $0 += value } } }
  }

  /// A value behind its length in two bytes, where there is one.
  mutating func add(_ type: UInt16, long value: [UInt8]?) {
    if let value { add(type) { $0.appendVector16 { $0 += value } } }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVector16 { list in
      for (type, body) in items {
        list.append16(type)
        list.appendVector16 { $0 += body }
      }
    }
  }
}

/// The `use_srtp` extension (RFC 5764 §4.1.1).
struct UseSRTP: Equatable {
  var profiles: [UInt16]
  /// The master key identifier; this project sends none.
  var keyIdentifier: [UInt8] = []

  init(profiles: [UInt16]) { self.profiles = profiles }

  init(_ reader: WireReader) throws(HandshakeFailure) {
    var reader = reader
    var vector = try reader.vector16()
    profiles = try vector.numbers16()
    var identifier = try reader.vector8()
    keyIdentifier = identifier.rest()
    try reader.finish()
    guard !profiles.isEmpty else { throw .decode("use_srtp without a profile") }
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVector16 { for profile in profiles { $0.append16(profile) } }
    bytes.appendVector8 { $0 += keyIdentifier }
    return bytes
  }
}

/// A share of the key agreement (RFC 8446 §4.2.8).
struct KeyShareEntry: Equatable {
  var group: UInt16
  var key: [UInt8]

  init(group: UInt16, key: [UInt8]) {
    self.group = group
    self.key = key
  }

  init(_ reader: inout WireReader) throws(HandshakeFailure) {
    group = try reader.read16()
    var vector = try reader.vector16()
    key = vector.rest()
    guard !key.isEmpty else { throw .decode("an empty key share") }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append16(group)
    bytes.appendVector16 { $0 += key }
  }
}
