extension ServerConfiguration {
  /// Who may connect, and who is told of it. By default everybody may, and nobody is told.
  public struct Access: Sendable {
    /// Where it is set, clients send it in `metadata.access_token`, or a token (JWT, HS256) that is signed with it.
    public var secretKey: SecretKey?
    /// Is asked about each client, behind the token where both are set.
    public var authWebhook: Webhook?
    /// Is told of connections and sessions.
    public var eventWebhook: Webhook?
    /// Connections at once, in all channels; more are refused.
    public var maximumConnections = 1000
    /// Connections at once in one channel; nil for as many as the server takes.
    public var maximumChannelConnections: Int?
    /// Connections at once from one address, of IPv6 from one network of 64 bits; nil for as many as the server takes. Clients behind a
    /// proxy have its address.
    public var maximumAddressConnections: Int?

    public init() {}
  }

  /// Where something is posted to as JSON.
  public struct Webhook: Sendable, Hashable {
    /// `http://` or `https://`.
    public var url: String
    /// For all of one request and its reply.
    public var timeout: Duration

    public init(url: String, timeout: Duration = .seconds(5)) {
      self.url = url
      self.timeout = timeout
    }
  }
}

/// A key that tokens are signed with. It appears in no description.
public struct SecretKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  /// What a key has at least that can't be found by trying (RFC 7518 §3.2), bytes.
  static let safeLength = 32

  /// - Parameter text: nil results where it is empty. A server warns of one with less than 32 bytes, which RFC 7518 §3.2 asks for.
  public init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    bytes = Array(text.utf8)
  }

  public var description: String { "(secret)" }
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Whether who has seen a token may find the key by trying.
  var isShort: Bool { bytes.count < Self.safeLength }

  /// Whether a text is the key.
  func matches(_ text: String) -> Bool { Self.same(Array(text.utf8), bytes) }

  /// Whether what somebody has sent is a secret. The time it takes doesn't tell how much of it is right.
  static func same(_ sent: [UInt8], _ secret: [UInt8]) -> Bool {
    var difference: UInt8 = sent.count == secret.count ? 0 : 1
    for (index, byte) in secret.enumerated() {
      difference |= byte ^ (index < sent.count ? sent[index] : ~byte)
    }
    return difference == 0
  }
}
