/// An HTTP proxy (CONNECT, optionally with Basic authentication) for signaling and for TURN over TCP and TLS.
public struct Proxy: CustomStringConvertible, Sendable, Equatable {
  let host: String
  let port: Int
  let agent: String
  let username: String?
  let password: String?

  /// - Parameters:
  ///   - host: the proxy's name or address.
  ///   - port: its port.
  ///   - agent: the `User-Agent` that the proxy sees; by default this SDK's name and version.
  ///   - username: for a proxy that asks for credentials.
  ///   - password: likewise.
  public init(
    host: String, port: Int, agent: String? = nil, username: String? = nil, password: String? = nil
  ) {
    self.host = host
    self.port = port
    self.agent = agent ?? "Sora Swift SDK \(SDKInfo.version)"
    self.username = username
    self.password = password
  }

  /// The proxy without its secret.
  public var description: String {
    let secret = String(repeating: "*", count: password?.count ?? 0)
    return "host=\(host) port=\(port) agent=\(agent) username=\(username ?? "") password=\(secret)"
  }
}
