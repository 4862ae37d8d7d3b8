/// ClientHello in the form of both versions (RFC 9147 §5.3, RFC 6347 §4.2.1).
struct ClientHello: Equatable {
  /// The signaling cipher suite value that stands for an empty renegotiation_info (RFC 5746 §3.3).
  static let renegotiationSignal: UInt16 = 0x00FF

  /// What the version field says; the versions of 1.3 stand in an extension.
  var legacyVersion: UInt16 = DTLSVersion.v12.rawValue
  var random: [UInt8]
  var sessionID: [UInt8] = []
  /// From a HelloVerifyRequest of 1.2.
  var legacyCookie: [UInt8] = []
  var cipherSuites: [UInt16]
  var compressionMethods: [UInt8] = [0]

  /// `supported_versions`; `nil` from a peer of 1.2.
  var supportedVersions: [UInt16]?
  var groups: [UInt16]?
  var signatureSchemes: [UInt16]?
  var keyShares: [KeyShareEntry]?
  var useSRTP: UseSRTP?
  var pointFormats: [UInt8]?
  var extendedMasterSecret = false
  var renegotiationInfo: [UInt8]?
  /// From a HelloRetryRequest of 1.3.
  var cookie: [UInt8]?

  init(random: [UInt8], cipherSuites: [UInt16]) {
    self.random = random
    self.cipherSuites = cipherSuites
  }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    legacyVersion = try reader.read16()
    random = try reader.take(32)
    var vector = try reader.vector8()
    sessionID = vector.rest()
    guard sessionID.count <= 32 else { throw .decode("a session ID of more than 32 bytes") }
    vector = try reader.vector8()
    legacyCookie = vector.rest()
    vector = try reader.vector16()
    cipherSuites = try vector.numbers16()
    vector = try reader.vector8()
    compressionMethods = vector.rest()
    guard !cipherSuites.isEmpty, !compressionMethods.isEmpty else {
      throw .decode("a ClientHello without cipher suites or compression methods")
    }
    let extensions = try ExtensionList(&reader)
    try reader.finish()

    if var versions = extensions.reader(ExtensionType.supportedVersions) {
      var vector = try versions.vector8()
      supportedVersions = try vector.numbers16()
      try versions.finish()
    }
    groups = try extensions.numbers(ExtensionType.supportedGroups)
    signatureSchemes = try extensions.numbers(ExtensionType.signatureAlgorithms)
    if var shares = extensions.reader(ExtensionType.keyShare) {
      var vector = try shares.vector16()
      var entries: [KeyShareEntry] = []
      while !vector.isAtEnd { entries.append(try KeyShareEntry(&vector)) }
      try shares.finish()
      keyShares = entries
    }
    if let reader = extensions.reader(ExtensionType.useSRTP) { useSRTP = try UseSRTP(reader) }
    pointFormats = try extensions.shortBytes(ExtensionType.pointFormats)
    extendedMasterSecret = try extensions.hasExtendedMasterSecret()
    renegotiationInfo = try extensions.shortBytes(ExtensionType.renegotiationInfo)
    cookie = try extensions.longBytes(ExtensionType.cookie)
  }

  private var extensions: ExtensionList {
    var list = ExtensionList()
    if let supportedVersions {
      list.add(ExtensionType.supportedVersions) {
        $0.appendVector8 { for version in supportedVersions { $0.append16(version) } }
      }
    }
    if let groups { list.add(ExtensionType.supportedGroups, numbers: groups) }
    if let signatureSchemes {
      list.add(ExtensionType.signatureAlgorithms, numbers: signatureSchemes)
    }
    if let keyShares {
      list.add(ExtensionType.keyShare) {
        $0.appendVector16 { for share in keyShares { share.append(to: &$0) } }
      }
    }
    if let useSRTP { list.add(ExtensionType.useSRTP, useSRTP.encoded) }
    list.add(ExtensionType.pointFormats, short: pointFormats)
    if extendedMasterSecret { list.add(ExtensionType.extendedMasterSecret) }
    list.add(ExtensionType.renegotiationInfo, short: renegotiationInfo)
    list.add(ExtensionType.cookie, long: cookie)
    return list
  }

  /// The types of its extensions: an answer may hold no others (RFC 8446 §4.2).
  var extensionTypes: [UInt16] { extensions.types }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append16(legacyVersion)
    bytes += random
    bytes.appendVector8 { $0 += sessionID }
    bytes.appendVector8 { $0 += legacyCookie }
    bytes.appendVector16 { for suite in cipherSuites { $0.append16(suite) } }
    bytes.appendVector8 { $0 += compressionMethods }
    extensions.append(to: &bytes)
    return bytes
  }
}

/// HelloVerifyRequest of 1.2 (RFC 6347 §4.2.1).
struct HelloVerifyRequest: Equatable {
  var cookie: [UInt8]

  init(cookie: [UInt8]) { self.cookie = cookie }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    // Servers say 1.0 here whatever they speak; the field means nothing.
    _ = try reader.read16()
    var vector = try reader.vector8()
    cookie = vector.rest()
    try reader.finish()
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = [0xFE, 0xFF]
    bytes.appendVector8 { $0 += cookie }
    return bytes
  }
}
