import COpenSSL

/// The kinds of keys that sign handshakes.
enum SigningKeyKind {
  case ecdsaP256
  case rsa

  /// `nil` for any other key.
  init?(_ key: OpaquePointer?) {
    guard let key = unsafe key else { return nil }
    switch unsafe EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA:
      // RFC 8446 §4.2.3 leaves the length open; shorter ones are too weak to mean anything.
      guard unsafe EVP_PKEY_get_bits(key) >= 1024 else { return nil }
      self = .rsa
    case EVP_PKEY_EC:
      var name = [CChar](repeating: 0, count: 32)
      var count = 0
      guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1,
        name.prefix(count).elementsEqual("prime256v1".utf8.map { CChar($0) })
      else { return nil }
      self = .ecdsaP256
    default: return nil
    }
  }
}

/// The signature schemes this project speaks, by their number in IANA's registry (RFC 8446 §4.2.3).
enum SignatureScheme: UInt16, CaseIterable {
  case ecdsaP256SHA256 = 0x0403
  case rsaPSSSHA256 = 0x0804
  case rsaPKCS1SHA256 = 0x0401

  /// The schemes a key can sign with in a version, the preferred one first. 1.3 forbids PKCS #1 (RFC 8446 §4.4.3).
  static func schemes(for key: SigningKeyKind, _ version: DTLSVersion) -> [SignatureScheme] {
    switch key {
    case .ecdsaP256: [.ecdsaP256SHA256]
    case .rsa: version == .v13 ? [.rsaPSSSHA256] : [.rsaPSSSHA256, .rsaPKCS1SHA256]
    }
  }

  private func configure(_ context: OpaquePointer?) -> Bool {
    guard self == .rsaPSSSHA256 else { return true }
    return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
      && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
  }

  /// Signs with a key of the scheme's kind.
  func sign(_ message: [UInt8], with key: OpaquePointer) throws(HandshakeFailure) -> [UInt8] {
    ERR_clear_error()
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    var parameters: OpaquePointer?
    var count = 0
    guard unsafe EVP_DigestSignInit(context, &parameters, EVP_sha256(), nil, key) == 1,
      unsafe configure(parameters),
      unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1, count > 0,
      count <= 4096
    else { throw .library(takeLibraryError()) }
    var signature = [UInt8](repeating: 0, count: count)
    guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
      throw .library(takeLibraryError())
    }
    return Array(signature.prefix(count))
  }

  /// Whether the signature is that of the key's owner.
  func isGenuine(_ signature: [UInt8], of message: [UInt8], by key: OpaquePointer) -> Bool {
    let context = unsafe EVP_MD_CTX_new()
    defer {
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    var parameters: OpaquePointer?
    return unsafe EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), nil, key) == 1
      && configure(parameters)
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}

/// A certificate that the peer showed.
@safe final class PeerCertificate {
  let der: [UInt8]
  let kind: SigningKeyKind
  private let certificate: OpaquePointer
  private let key: OpaquePointer

  init(der: [UInt8]) throws(HandshakeFailure) {
    let certificate = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      let parsed = unsafe d2i_X509(nil, &position, bytes.count)
      guard let parsed = unsafe parsed,
        unsafe position == bytes.baseAddress.map({ unsafe $0 + bytes.count })
      else {
        unsafe X509_free(parsed)
        return nil
      }
      return unsafe parsed
    }
    ERR_clear_error()
    guard let certificate = unsafe certificate else {
      throw HandshakeFailure(.badCertificate, "the peer's certificate can't be read")
    }
    guard let key = unsafe X509_get0_pubkey(certificate), let kind = unsafe SigningKeyKind(key)
    else {
      unsafe X509_free(certificate)
      ERR_clear_error()
      throw HandshakeFailure(
        .unsupportedCertificate, "the peer's certificate has neither an ECDSA P-256 nor an RSA key")
    }
    unsafe self.certificate = unsafe certificate
    unsafe self.key = unsafe key
    self.kind = kind
    self.der = der
  }

  deinit { unsafe X509_free(certificate) }

  /// Checks a signature of the peer's.
  func verify(
    _ signature: [UInt8], scheme: UInt16, of message: [UInt8], version: DTLSVersion
  ) throws(HandshakeFailure) {
    guard let known = SignatureScheme(rawValue: scheme),
      SignatureScheme.schemes(for: kind, version).contains(known)
    else {
      throw .illegalParameter("the peer signed with a scheme that wasn't offered for its key")
    }
    guard unsafe known.isGenuine(signature, of: message, by: key) else {
      throw HandshakeFailure(.decryptError, "the peer's signature is wrong")
    }
  }
}
