import COpenSSL

/// A hash of a certificate, as `a=fingerprint` carries it in SDP (RFC 8122 §5).
public struct DTLSFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// The hash's name in lower case: "sha-256".
  public let algorithm: String

  /// The hash.
  public let bytes: [UInt8]

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
    guard let count = Self.digestLength(name) else {
      throw .unsupportedHash(name)
    }
    let digits = Array(parts[1])
    guard digits.count == count * 3 - 1 else { throw .invalidFingerprint(shown) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for position in stride(from: 0, to: digits.count, by: 3) {
      guard let high = Self.hexadecimal(digits[position]),
        let low = Self.hexadecimal(digits[position + 1]),
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
    guard let digest = unsafe Self.digest(name) else {
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

  /// "sha-256 AB:CD:...", as SDP wants it.
  public var description: String {
    let alphabet = Array("0123456789ABCDEF".utf8)
    var text = Array(algorithm.utf8)
    for (position, byte) in bytes.enumerated() {
      text.append(UInt8(ascii: position == 0 ? " " : ":"))
      text.append(alphabet[Int(byte >> 4)])
      text.append(alphabet[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func digestLength(_ name: String) -> Int? {
    switch name {
    case "sha-1": 20
    case "sha-224": 28
    case "sha-256": 32
    case "sha-384": 48
    case "sha-512": 64
    default: nil
    }
  }

  private static func digest(_ name: String) -> OpaquePointer? {
    switch name {
    case "sha-1": unsafe EVP_sha1()
    case "sha-224": unsafe EVP_sha224()
    case "sha-256": unsafe EVP_sha256()
    case "sha-384": unsafe EVP_sha384()
    case "sha-512": unsafe EVP_sha512()
    default: nil
    }
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
