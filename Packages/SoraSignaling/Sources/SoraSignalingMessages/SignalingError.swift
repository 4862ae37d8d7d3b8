/// The one error type of this module: where it happened, what it was, and what to do about it.
///
/// `description` is one line fit for a person: stage, what happened, and the way out.
public struct SignalingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// How far the work had come. Later stages compare greater, so that of several failed
  /// candidates the one that came furthest can be reported.
  public enum Stage: Int, Sendable, Hashable, Comparable {
    /// Arguments: URLs, files, credentials.
    case configuration
    /// Looking up the host name.
    case resolve
    /// Opening the TCP connection.
    case connect
    /// Asking the proxy for a tunnel.
    case proxy
    /// The TLS handshake.
    case tls
    /// The WebSocket handshake (RFC 6455 §4).
    case upgrade
    /// Following a `redirect`.
    case redirect
    /// Exchanging messages on an open WebSocket.
    case signaling
    /// Reading or writing one message.
    case message
    /// Opening the server's port.
    case listen

    public static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
  }

  public enum Code: Sendable, Hashable {
    case malformedJSON
    case tooLarge
    case tooDeep
    case missingField
    case invalidField
    case invalidURL
    case invalidConfiguration
    case hostNotFound
    case refused
    case unreachable
    case timeout
    case cancelled
    case certificateNotVerified
    case tlsFailed
    case proxyAuthenticationRequired
    /// The status is HTTP's, or the reply of SOCKS 5 (RFC 1928 §6).
    case proxyRefused(status: Int)
    case unexpectedStatus(Int)
    case invalidHandshake
    /// The peer closed the WebSocket: `code` as in RFC 6455 §7.4, or Sora's own such as 4490.
    case closed(code: WebSocketCloseCode, reason: String)
    /// The connection ended without a close frame.
    case connectionLost
    case protocolViolation
    case tooManyRedirects
    /// The peer (or the consumer of events) does not keep up.
    case queueFull
    case listenFailed
  }

  public var stage: Stage
  public var code: Code
  /// The field or option at fault, e.g. `offer.sdp` or `proxy.password`.
  public var field: String?
  /// The offending value, shortened.
  public var value: String?
  /// What happened, in words.
  public var detail: String
  /// What to change.
  public var wayOut: String
  /// The URL of the attempt, if there was one.
  public var url: String?
  /// When several URLs were tried and all failed: each one's own error.
  public var candidates: [SignalingError]

  public init(
    stage: Stage, code: Code, field: String? = nil, value: String? = nil, detail: String,
    wayOut: String, url: String? = nil, candidates: [SignalingError] = []
  ) {
    self.stage = stage
    self.code = code
    self.field = field
    self.value = value.map(Self.shortened)
    self.detail = detail
    self.wayOut = wayOut
    self.url = url
    self.candidates = candidates
  }

  public var description: String {
    var text = "\(stage): \(detail)"
    if let field {
      text += " (\(field)"
      if let value { text += " = \(value)" }
      text += ")"
    } else if let value {
      text += " (\(value))"
    }
    if let url { text += " at \(url)" }
    text += "; \(wayOut)"
    if candidates.count > 1 {
      let reasons = candidates.map { "\($0.url ?? "?"): \($0.detail)" }
      text += " [" + reasons.joined(separator: "; ") + "]"
    }
    return text
  }

  /// Values come from outside; an error must not carry a megabyte of them.
  private static func shortened(_ value: String) -> String {
    value.unicodeScalars.count <= 80
      ? value : String(String.UnicodeScalarView(value.unicodeScalars.prefix(77))) + "..."
  }

  package func at(url: String) -> SignalingError {
    var copy = self
    copy.url = copy.url ?? url
    return copy
  }
}

extension SignalingError {
  static func missing(_ field: String, expected: String) -> SignalingError {
    SignalingError(
      stage: .message, code: .missingField, field: field, detail: "a required key is absent",
      wayOut: "send \(field) as \(expected)")
  }

  static func invalid(_ field: String, _ value: JSONValue, expected: String) -> SignalingError {
    SignalingError(
      stage: .message, code: .invalidField, field: field, value: value.summary,
      detail: "a key has a value of the wrong kind", wayOut: "send \(field) as \(expected)")
  }

  static func notAllowed(
    _ field: String, _ value: JSONValue, expected: String
  ) -> SignalingError {
    SignalingError(
      stage: .message, code: .invalidField, field: field, value: value.summary,
      detail: "a key has a value that is not allowed: it must be \(expected)",
      wayOut: "send \(field) as \(expected)")
  }

  package static func json(_ code: Code, at offset: Int, _ detail: String) -> SignalingError {
    let wayOut =
      switch code {
      case .tooLarge: "keep a message within \(JSONValue.maximumSize) bytes"
      case .tooDeep: "nest at most \(JSONValue.maximumDepth) arrays and objects"
      default: "send one JSON object a message (RFC 8259)"
      }
    return SignalingError(
      stage: .message, code: code, field: "byte", value: String(offset), detail: detail,
      wayOut: wayOut)
  }

  /// The attempt was given up by its owner.
  public static let cancelled = SignalingError(
    stage: .connect, code: .cancelled, detail: "the attempt was cancelled",
    wayOut: "connect again when it is wanted")
}
