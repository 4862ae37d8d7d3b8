import COpenSSL
import SoraWire

/// A hash that fingerprints in SDP may have, by its name there (RFC 8122 §5).
private enum FingerprintHash: String {
  case sha1 = "sha-1"
  case sha224 = "sha-224"
  case sha256 = "sha-256"
  case sha384 = "sha-384"
  case sha512 = "sha-512"

  var byteCount: Int {
    switch self {
    case .sha1: 20
    case .sha224: 28
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var digest: OpaquePointer? {
    switch self {
    case .sha1: unsafe EVP_sha1()
    case .sha224: unsafe EVP_sha224()
    case .sha256: unsafe EVP_sha256()
    case .sha384: unsafe EVP_sha384()
    case .sha512: unsafe EVP_sha512()
    }
  }
}

extension DTLSFingerprint {
  /// Parses "sha-256 AB:CD:...", in any case.
  ///
  /// - Throws: ``DTLSError/unsupportedHash(_:)``, or ``DTLSError/invalidFingerprint(_:)`` where it isn't pairs of
  ///   hexadecimal digits between colons, or the hash is of another length.
  public init(parsing text: String) throws(DTLSError) {
    let shown = String(text.prefix(120))
    // Bytes, not characters: "\r\n" is one character.
    let parts = text.utf8.split(whereSeparator: { [0x20, 0x09, 0x0D, 0x0A].contains($0) })
    guard parts.count == 2 else { throw .invalidFingerprint(shown) }
    let name = String(parts[0].prefix(40))?.lowercased() ?? ""
    guard let hash = FingerprintHash(rawValue: name) else { throw .unsupportedHash(name) }
    let digits = Array(parts[1])
    guard digits.count == hash.byteCount * 3 - 1 else { throw .invalidFingerprint(shown) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hash.byteCount)
    for position in stride(from: 0, to: digits.count, by: 3) {
      guard let high = digits[position].hexadecimalDigitValue,
        let low = digits[position + 1].hexadecimalDigitValue,
        position + 2 == digits.count || digits[position + 2] == UInt8(ascii: ":")
      else { throw .invalidFingerprint(shown) }
      bytes.append(high << 4 | low)
    }
    algorithm = name
    self.bytes = bytes
  }

  /// Hashes a certificate.
  ///
  /// - Parameters:
  ///   - certificate: the certificate in DER.
  ///   - algorithm: "sha-256" or another hash that SDP knows, in any case.
  /// - Throws: ``DTLSError/unsupportedHash(_:)``.
  public init(of certificate: [UInt8], algorithm: String = "sha-256") throws(DTLSError) {
    let name = algorithm.lowercased()
    guard let digest = unsafe FingerprintHash(rawValue: name)?.digest else {
      throw .unsupportedHash(String(name.prefix(40)))
    }
    var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard unsafe EVP_Digest(certificate, certificate.count, &hash, &count, digest, nil) == 1 else {
      throw .unsupportedHash(name)
    }
    self.algorithm = name
    bytes = Array(hash.prefix(Int(count)))
  }
}
