/// A hash of a certificate, as `a=fingerprint` carries it in SDP (RFC 8122 §5).
public struct DTLSFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// The hash's name in lower case: "sha-256".
  public let algorithm: String

  /// The hash.
  public let bytes: [UInt8]

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
}
