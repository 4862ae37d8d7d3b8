/// The cipher suites this project speaks, by their number in IANA's registry.
public enum DTLSCipherSuite: UInt16, Hashable, Sendable, CaseIterable {
  /// DTLS 1.3's (RFC 8446 §B.4).
  case aes128GCM = 0x1301
  case aes256GCM = 0x1302
  case chacha20Poly1305 = 0x1303
  /// DTLS 1.2's (RFC 5289, RFC 7905).
  case ecdheECDSAWithAES128GCM = 0xC02B
  case ecdheECDSAWithAES256GCM = 0xC02C
  case ecdheRSAWithAES128GCM = 0xC02F
  case ecdheRSAWithAES256GCM = 0xC030
  case ecdheRSAWithChaCha20Poly1305 = 0xCCA8
  case ecdheECDSAWithChaCha20Poly1305 = 0xCCA9

  /// The name in IANA's registry.
  public var name: String {
    switch self {
    case .aes128GCM: "TLS_AES_128_GCM_SHA256"
    case .aes256GCM: "TLS_AES_256_GCM_SHA384"
    case .chacha20Poly1305: "TLS_CHACHA20_POLY1305_SHA256"
    case .ecdheECDSAWithAES128GCM: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    case .ecdheECDSAWithAES256GCM: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    case .ecdheRSAWithAES128GCM: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    case .ecdheRSAWithAES256GCM: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    case .ecdheRSAWithChaCha20Poly1305: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
    case .ecdheECDSAWithChaCha20Poly1305: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
    }
  }

  /// The version the suite belongs to.
  public var version: DTLSVersion {
    switch self {
    case .aes128GCM, .aes256GCM, .chacha20Poly1305: .v13
    default: .v12
    }
  }

  var hash: DTLSHash { cipher == .aes256GCM ? .sha384 : .sha256 }

  var cipher: AEADCipher.Kind {
    switch self {
    case .aes128GCM, .ecdheECDSAWithAES128GCM, .ecdheRSAWithAES128GCM: .aes128GCM
    case .aes256GCM, .ecdheECDSAWithAES256GCM, .ecdheRSAWithAES256GCM: .aes256GCM
    case .chacha20Poly1305, .ecdheRSAWithChaCha20Poly1305, .ecdheECDSAWithChaCha20Poly1305:
      .chacha20Poly1305
    }
  }

  /// Whether a server with a key of that kind can take the suite. In 1.3 the suite says nothing of the key.
  func fits(_ key: SigningKeyKind) -> Bool {
    switch self {
    case .aes128GCM, .aes256GCM, .chacha20Poly1305: true
    case .ecdheECDSAWithAES128GCM, .ecdheECDSAWithAES256GCM, .ecdheECDSAWithChaCha20Poly1305:
      key == .ecdsaP256
    case .ecdheRSAWithAES128GCM, .ecdheRSAWithAES256GCM, .ecdheRSAWithChaCha20Poly1305: key == .rsa
    }
  }
}

/// The groups of the key agreement, by their number in IANA's registry.
public enum DTLSGroup: UInt16, Hashable, Sendable, CaseIterable {
  /// secp256r1 (RFC 8422).
  case p256 = 23
  /// Curve25519 (RFC 7748).
  case x25519 = 29
}
