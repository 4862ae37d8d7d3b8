/// A proxy that is asked for a tunnel.
public struct ProxyOptions: Sendable, Hashable {
  public enum Scheme: Sendable, Hashable {
    /// `CONNECT` (RFC 9110 §9.3.6), with Basic authentication (RFC 7617) where there is a user name.
    case http
    /// SOCKS 5 (RFC 1928), with a user name and a password (RFC 1929) where there is a user name. The proxy resolves names.
    case socks5
  }

  public var scheme: Scheme
  public var host: String
  public var port: Int
  /// The `User-Agent` that an HTTP proxy sees.
  public var agent: String?
  public var username: String?
  public var password: String?

  public init(
    scheme: Scheme = .http, host: String, port: Int, agent: String? = nil,
    username: String? = nil, password: String? = nil
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.agent = agent
    self.username = username
    self.password = password
  }
}
