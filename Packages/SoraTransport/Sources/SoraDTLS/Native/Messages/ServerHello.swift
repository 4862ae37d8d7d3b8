/// ServerHello in the form of both versions, and HelloRetryRequest, which is one with a fixed random (RFC 8446 §4.1.3).
struct ServerHello: Equatable {
  /// SHA-256 of "HelloRetryRequest".
  static let retryRandom: [UInt8] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
  ]

  /// The end of the random of a server that could speak 1.3 and speaks 1.2: "DOWNGRD" and 1 (RFC 8446 §4.1.3).
  static let downgradeSentinel: [UInt8] = [0x44, 0x4F, 0x57, 0x4E, 0x47, 0x52, 0x44, 0x01]

  var legacyVersion: UInt16 = DTLSVersion.v12.rawValue
  var random: [UInt8]
  var sessionID: [UInt8] = []
  var cipherSuite: UInt16
  var compressionMethod: UInt8 = 0

  /// `supported_versions`; `nil` means 1.2.
  var selectedVersion: UInt16?
  var keyShare: KeyShareEntry?
  /// A retry's `key_share` names a group only.
  var retryGroup: UInt16?
  var cookie: [UInt8]?
  var useSRTP: UseSRTP?
  var pointFormats: [UInt8]?
  var extendedMasterSecret = false
  var renegotiationInfo: [UInt8]?
  /// The types of all extensions that came.
  private(set) var extensionTypes: [UInt16] = []

  var isRetry: Bool { random == Self.retryRandom }

  init(random: [UInt8], cipherSuite: UInt16) {
    self.random = random
    self.cipherSuite = cipherSuite
  }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    legacyVersion = try reader.read16()
    random = try reader.take(32)
    var vector = try reader.vector8()
    sessionID = vector.rest()
    cipherSuite = try reader.read16()
    compressionMethod = try reader.read8()
    let extensions = try ExtensionList(&reader)
    try reader.finish()
    extensionTypes = extensions.types

    if var reader = extensions.reader(ExtensionType.supportedVersions) {
      selectedVersion = try reader.read16()
      try reader.finish()
    }
    if var reader = extensions.reader(ExtensionType.keyShare) {
      if random == Self.retryRandom {
        retryGroup = try reader.read16()
      } else {
        keyShare = try KeyShareEntry(&reader)
      }
      try reader.finish()
    }
    cookie = try extensions.longBytes(ExtensionType.cookie)
    if let reader = extensions.reader(ExtensionType.useSRTP) { useSRTP = try UseSRTP(reader) }
    pointFormats = try extensions.shortBytes(ExtensionType.pointFormats)
    extendedMasterSecret = try extensions.hasExtendedMasterSecret()
    renegotiationInfo = try extensions.shortBytes(ExtensionType.renegotiationInfo)
  }

  private var extensions: ExtensionList {
    var list = ExtensionList()
    if let selectedVersion {
      list.add(ExtensionType.supportedVersions) { $0.append16(selectedVersion) }
    }
    if let keyShare {
      list.add(ExtensionType.keyShare) { keyShare.append(to: &$0) }
    } else if let retryGroup {
      list.add(ExtensionType.keyShare) { $0.append16(retryGroup) }
    }
    list.add(ExtensionType.cookie, long: cookie)
    if let useSRTP { list.add(ExtensionType.useSRTP, useSRTP.encoded) }
    list.add(ExtensionType.pointFormats, short: pointFormats)
    if extendedMasterSecret { list.add(ExtensionType.extendedMasterSecret) }
    list.add(ExtensionType.renegotiationInfo, short: renegotiationInfo)
    return list
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append16(legacyVersion)
    bytes += random
    bytes.appendVector8 { $0 += sessionID }
    bytes.append16(cipherSuite)
    bytes.append(compressionMethod)
    extensions.append(to: &bytes)
    return bytes
  }
}

/// EncryptedExtensions of 1.3 (RFC 8446 §4.3.1).
struct EncryptedExtensions: Equatable {
  var useSRTP: UseSRTP?
  private(set) var extensionTypes: [UInt16] = []

  init(useSRTP: UseSRTP?) { self.useSRTP = useSRTP }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    guard !reader.isAtEnd else { throw .decode("EncryptedExtensions without its list") }
    let extensions = try ExtensionList(&reader)
    try reader.finish()
    extensionTypes = extensions.types
    if let reader = extensions.reader(ExtensionType.useSRTP) { useSRTP = try UseSRTP(reader) }
  }

  var encoded: [UInt8] {
    var list = ExtensionList()
    if let useSRTP { list.add(ExtensionType.useSRTP, useSRTP.encoded) }
    var bytes: [UInt8] = []
    list.append(to: &bytes)
    return bytes
  }
}
