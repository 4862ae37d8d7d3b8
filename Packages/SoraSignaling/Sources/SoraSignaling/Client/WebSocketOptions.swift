public import Logging

/// How a client trusts a server, and shows itself.
public struct TLSOptions: Sendable, Hashable {
  public enum Trust: Sendable, Hashable {
    /// The certificate authorities of the system.
    case system
    /// Only those of a PEM file.
    case file(String)
    /// Only those of a PEM text.
    case pem(String)
  }

  /// PEM files of a certificate chain, its own first, and of its key.
  public struct Identity: Sendable, Hashable {
    public var certificateFile: String
    public var keyFile: String

    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  public var trust: Trust
  /// True accepts any certificate. Only for tests and closed networks.
  public var insecure: Bool
  public var clientIdentity: Identity?

  public init(trust: Trust = .system, insecure: Bool = false, clientIdentity: Identity? = nil) {
    self.trust = trust
    self.insecure = insecure
    self.clientIdentity = clientIdentity
  }
}

/// How `WebSocketClient` opens a connection.
public struct WebSocketOptions: Sendable {
  public var tls: TLSOptions
  /// Asked of the public key (`SubjectPublicKeyInfo` in DER, as RFC 7469 §2.4 pins it) that a server shows, beside what `tls` asks of its
  /// certificate and before anything is said to it; false ends the attempt. On a thread of the network's. nil asks for nothing; where it is
  /// set, `ws:` fails, as it shows no key.
  public var acceptsKey: (@Sendable (_ publicKey: [UInt8]) -> Bool)?
  public var proxy: ProxyOptions?
  /// Sent as `User-Agent`.
  public var userAgent: String
  /// From the call until the WebSocket is open.
  public var timeout: Duration
  /// How long the server may take to answer a close frame, before the socket is closed anyway.
  public var closeTimeout: Duration
  /// Bytes of one message, fragments together. At most 4 GiB minus one.
  public var maximumMessageSize: Int
  public var logger: Logger

  public init(
    tls: TLSOptions = TLSOptions(), acceptsKey: (@Sendable ([UInt8]) -> Bool)? = nil,
    proxy: ProxyOptions? = nil,
    userAgent: String = "Sora Swift SDK", timeout: Duration = .seconds(10),
    closeTimeout: Duration = .seconds(3),
    maximumMessageSize: Int = SignalingMessage.maximumSize,
    logger: Logger = Logger(label: "sora.signaling")
  ) {
    self.tls = tls
    self.acceptsKey = acceptsKey
    self.proxy = proxy
    self.userAgent = userAgent
    self.timeout = timeout
    self.closeTimeout = closeTimeout
    self.maximumMessageSize = maximumMessageSize
    self.logger = logger
  }
}
