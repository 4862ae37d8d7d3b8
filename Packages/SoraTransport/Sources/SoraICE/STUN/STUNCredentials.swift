import SoraWire

/// A way to make a key from a password (RFC 8489 §18.5).
public struct STUNPasswordAlgorithm: Hashable, Sendable {
  /// The registered number: 1 is MD5, 2 is SHA-256.
  public var number: UInt16
  public var parameters: [UInt8]

  public init(number: UInt16, parameters: [UInt8] = []) {
    self.number = number
    self.parameters = parameters
  }

  public static let md5 = STUNPasswordAlgorithm(number: 1)
  public static let sha256 = STUNPasswordAlgorithm(number: 2)

  /// Whether `LongTermCredentials` can make a key with it.
  public var isKnown: Bool { self == .md5 || self == .sha256 }

  var encoded: [UInt8] {
    [UInt8](bigEndian: number)
      + [UInt8](bigEndian: UInt16(truncatingIfNeeded: parameters.prefix(256).count))
      + parameters.prefix(256)
  }

  var padded: [UInt8] {
    var bytes = encoded
    while bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }
}

/// A name and a password of the long-term credential mechanism (RFC 8489 §9.2).
///
/// Both are used as they are: what isn't ASCII wants to be prepared with `OpaqueString` before.
public struct LongTermCredentials: Hashable, Sendable {
  public var username: String
  public var password: String

  public init(username: String, password: String) {
    self.username = username
    self.password = password
  }

  /// The key for a realm (RFC 8489 §9.2.2, §18.5.1): a hash of `username:realm:password`. An algorithm that isn't known is taken
  /// as MD5.
  public func key(realm: [UInt8], algorithm: STUNPasswordAlgorithm = .md5) -> [UInt8] {
    let text = Array(username.utf8) + [colon] + realm + [colon] + Array(password.utf8)
    return algorithm == .sha256 ? sha256(text) : md5(text)
  }

  /// The value of USERHASH (RFC 8489 §14.4).
  public func userhash(realm: [UInt8]) -> [UInt8] {
    sha256(Array(username.utf8) + [colon] + realm)
  }

  /// The password for a name that a server and whoever hands out its credentials derive from one secret, so that neither has
  /// to remember the names: HMAC-SHA256 in hexadecimal.
  public static func password(for username: String, secret: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let code = hmacSHA256(Array(username.utf8), key: secret)
    return String(
      decoding: code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

private let colon = UInt8(ascii: ":")

/// What the start of a NONCE says about the server (RFC 8489 §9.2, "nonce cookie").
public struct STUNSecurityFeatures: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bit 0, the least significant one (RFC 8489 §18.1): the server sends PASSWORD-ALGORITHMS.
  public static let passwordAlgorithms = STUNSecurityFeatures(rawValue: 1)
  /// Bit 1: the server wants USERHASH in the place of USERNAME.
  public static let usernameAnonymity = STUNSecurityFeatures(rawValue: 2)

  /// The first nine characters of a nonce that has features.
  static let cookie = Array("obMatJos2".utf8)
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Reads the features from a nonce; none where it doesn't begin with the cookie.
  public init(nonce: [UInt8]) {
    self.init(rawValue: 0)
    guard nonce.count >= 13, nonce.starts(with: Self.cookie) else { return }
    // Four characters of base64: 24 bits.
    var bits: UInt32 = 0
    for character in nonce[9..<13] {
      guard let value = Self.alphabet.firstIndex(of: character) else { return }
      bits = bits << 6 | UInt32(value)
    }
    self = STUNSecurityFeatures(rawValue: bits)
  }

  /// The start of a nonce with these features: 13 characters.
  var noncePrefix: [UInt8] {
    Self.cookie
      + [18, 12, 6, 0].map { Self.alphabet[Int(rawValue >> UInt32($0) & 63)] }
  }
}
