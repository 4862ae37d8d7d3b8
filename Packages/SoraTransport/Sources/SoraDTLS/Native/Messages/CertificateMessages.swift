/// Certificate in the forms of both versions (RFC 5246 §7.4.2, RFC 8446 §4.4.2).
struct CertificateMessage: Equatable {
  /// 1.3 only: what the CertificateRequest said.
  var context: [UInt8] = []
  /// DER, the end's own first.
  var certificates: [[UInt8]]

  init(certificates: [[UInt8]]) { self.certificates = certificates }

  init(parsing body: [UInt8], _ version: DTLSVersion) throws(HandshakeFailure) {
    var reader = WireReader(body)
    if version == .v13 {
      var vector = try reader.vector8()
      context = vector.rest()
    }
    var list = try reader.vector24()
    try reader.finish()
    certificates = []
    while !list.isAtEnd {
      var entry = try list.vector24()
      let der = entry.rest()
      guard !der.isEmpty else { throw .decode("an empty certificate") }
      guard certificates.count < 16 else { throw .decode("too long a chain of certificates") }
      certificates.append(der)
      // Nothing was asked for that an entry's extensions could answer.
      if version == .v13 { _ = try list.vector16() }
    }
  }

  func encoded(_ version: DTLSVersion) -> [UInt8] {
    var bytes: [UInt8] = []
    if version == .v13 { bytes.appendVector8 { $0 += context } }
    bytes.appendVector24 { list in
      for der in certificates {
        list.appendVector24 { $0 += der }
        if version == .v13 { list.append16(0) }
      }
    }
    return bytes
  }
}

/// CertificateRequest in the forms of both versions (RFC 5246 §7.4.4, RFC 8446 §4.3.2).
struct CertificateRequest: Equatable {
  /// The client_certificate_types ecdsa_sign and rsa_sign, for 1.2.
  static let types: [UInt8] = [64, 1]

  var context: [UInt8] = []
  var signatureSchemes: [UInt16]

  init(signatureSchemes: [UInt16]) { self.signatureSchemes = signatureSchemes }

  init(parsing body: [UInt8], _ version: DTLSVersion) throws(HandshakeFailure) {
    var reader = WireReader(body)
    var vector = try reader.vector8()
    if version == .v13 {
      context = vector.rest()
      let extensions = try ExtensionList(&reader)
      try reader.finish()
      guard let schemes = try extensions.numbers(ExtensionType.signatureAlgorithms) else {
        throw HandshakeFailure(.missingExtension, "a CertificateRequest without signature schemes")
      }
      signatureSchemes = schemes
    } else {
      // The types say nothing that the schemes don't, and no authority vouches for anybody here.
      vector = try reader.vector16()
      signatureSchemes = try vector.numbers16()
      _ = try reader.vector16()
      try reader.finish()
    }
  }

  func encoded(_ version: DTLSVersion) -> [UInt8] {
    var bytes: [UInt8] = []
    if version == .v13 {
      bytes.appendVector8 { $0 += context }
      var list = ExtensionList()
      list.add(ExtensionType.signatureAlgorithms, numbers: signatureSchemes)
      list.append(to: &bytes)
    } else {
      bytes.appendVector8 { $0 += Self.types }
      bytes.appendVector16 { for scheme in signatureSchemes { $0.append16(scheme) } }
      bytes.append16(0)
    }
    return bytes
  }
}

/// CertificateVerify, the same in both versions (RFC 5246 §7.4.8, RFC 8446 §4.4.3).
struct CertificateVerify: Equatable {
  var scheme: UInt16
  var signature: [UInt8]

  init(scheme: UInt16, signature: [UInt8]) {
    self.scheme = scheme
    self.signature = signature
  }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    scheme = try reader.read16()
    var vector = try reader.vector16()
    signature = vector.rest()
    try reader.finish()
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append16(scheme)
    bytes.appendVector16 { $0 += signature }
    return bytes
  }

  /// What is signed in 1.3: 64 spaces, a text that tells the ends apart, a zero, and the transcript's hash.
  static func signedContent(by signer: DTLSRole, transcript: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0x20, count: 64)
      + Array("TLS 1.3, \(signer.rawValue) CertificateVerify".utf8)
      + [0] + transcript
  }
}
