/// The `o=` line (RFC 8866 §5.2).
public struct SDPOrigin: Sendable, Hashable, CustomStringConvertible {
  public var username: String
  /// A number of any length, kept as text.
  public var sessionID: String
  /// Grows by one with each new description of the session.
  public var version: UInt64
  public var networkType: String
  public var addressType: String
  public var address: String

  public init(
    username: String = "-", sessionID: String, version: UInt64, networkType: String = "IN",
    addressType: String = "IP4", address: String = "127.0.0.1"
  ) {
    self.username = username
    self.sessionID = sessionID
    self.version = version
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }

  /// Reads what follows `o=`.
  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count == 6, let version: UInt64 = SDPText.decimal(words[2]) else { return nil }
    self.init(
      username: String(words[0]), sessionID: String(words[1]), version: version,
      networkType: String(words[3]), addressType: String(words[4]), address: String(words[5]))
  }

  public var description: String {
    "\(username) \(sessionID) \(version) \(networkType) \(addressType) \(address)"
  }
}

/// `a=group` (RFC 5888 §5), for example `BUNDLE 0 1`.
public struct SDPGroup: SDPAttributeValue {
  public static var attributeName: String { "group" }
  public var semantics: String
  public var mids: [String]

  public init(semantics: String, mids: [String]) {
    self.semantics = semantics
    self.mids = mids
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard let first = words.first else { return nil }
    semantics = String(first)
    mids = words.dropFirst().map(String.init)
  }

  public var attributeValue: String { ([semantics] + mids).joined(separator: " ") }
}

/// `a=fingerprint` (RFC 8122 §5).
public struct SDPFingerprint: SDPAttributeValue, CustomStringConvertible {
  public static var attributeName: String { "fingerprint" }
  /// The hash function in lower case, for example `sha-256`.
  public var algorithm: String
  /// The hash.
  public var bytes: [UInt8]

  public init(algorithm: String, bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count == 2 else { return nil }
    algorithm = words[0].lowercased()
    bytes = []
    for pair in SDPText.split(words[1], on: ":") {
      guard pair.utf8.count == 2, !pair.utf8.contains(UInt8(ascii: "+")),
        let byte = UInt8(pair, radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    guard (16...64).contains(bytes.count) else { return nil }
  }

  public var attributeValue: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 3)
    for byte in bytes {
      if !text.isEmpty { text.append(UInt8(ascii: ":")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return algorithm + " " + String(decoding: text, as: UTF8.self)
  }

  public var description: String { attributeValue }
}

/// Who opens the DTLS connection (RFC 4145 §4, RFC 8842 §5).
public enum SDPSetup: String, Sendable, Hashable, CaseIterable {
  case actpass
  /// The writer is the DTLS client.
  case active
  /// The writer is the DTLS server.
  case passive
  case holdconn
}

/// A `b=` line (RFC 8866 §5.8).
public struct SDPBandwidth: Sendable, Hashable, CustomStringConvertible {
  /// `AS` (kbit/s with headers), `TIAS` (bit/s without), `CT`, ...
  public var modifier: String
  public var value: Int

  public init(modifier: String, value: Int) {
    self.modifier = modifier
    self.value = value
  }

  public init?(parsing value: String) {
    let parts = SDPText.split(value[...], on: ":", maximum: 1)
    guard parts.count == 2, let number: Int = SDPText.decimal(SDPText.trimmed(parts[1])) else {
      return nil
    }
    modifier = String(parts[0])
    self.value = number
  }

  public var description: String { "\(modifier):\(value)" }
}
