public import Foundation
import SoraSignaling

/// A proxy for signaling and for TURN over TCP and TLS: HTTP's `CONNECT`, optionally with Basic authentication, or SOCKS 5.
public struct Proxy: CustomStringConvertible, Sendable, Equatable {
  /// How a proxy is spoken to. Linux only: the iOS SDK knows HTTP.
  public enum Scheme: String, Sendable {
    case http
    /// SOCKS 5 (RFC 1928), with a user name and a password (RFC 1929) where there is a user name. The proxy resolves names.
    case socks5
  }

  public let scheme: Scheme
  public let host: String
  public let port: Int
  /// The `User-Agent` that an HTTP proxy sees.
  public let agent: String
  public let username: String?
  public let password: String?

  /// - Parameters:
  ///   - host: the proxy's name or address.
  ///   - port: its port.
  ///   - agent: the `User-Agent` that the proxy sees; by default this SDK's name and version.
  ///   - username: for a proxy that asks for credentials.
  ///   - password: likewise.
  public init(
    host: String, port: Int, agent: String? = nil, username: String? = nil, password: String? = nil
  ) {
    self.init(
      scheme: .http, host: host, port: port, agent: agent, username: username, password: password)
  }

  /// Linux only.
  ///
  /// - Parameters:
  ///   - scheme: how the proxy is spoken to.
  ///   - host: the proxy's name or address.
  ///   - port: its port.
  ///   - agent: the `User-Agent` that an HTTP proxy sees; by default this SDK's name and version.
  ///   - username: for a proxy that asks for credentials.
  ///   - password: likewise.
  public init(
    scheme: Scheme, host: String, port: Int, agent: String? = nil, username: String? = nil,
    password: String? = nil
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.agent = agent ?? "Sora Swift SDK \(SDKInfo.version)"
    self.username = username
    self.password = password
  }

  /// A proxy as a URL names it: `http://user:password@host:port` or `socks5://user:password@host:port`, `socks5h://` being the same, with what is
  /// special in the credentials as `%xx`. Without a port it is 1080, as with curl. nil for anything else. Linux only.
  ///
  /// - Parameter url: with its scheme; what comes after host and port has no meaning.
  public init?(url: String) {
    guard let parts = URLComponents(string: url), let scheme = Self.scheme(parts.scheme),
      let host = parts.host, (1...65_535).contains(parts.port ?? 1080),
      // A number that no integer holds looks as if there were none.
      parts.port != nil || parts.rangeOfPort == nil
    else { return nil }
    // An address of IPv6 stands in brackets in URLs alone.
    let name = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
    guard !name.isEmpty else { return nil }
    self.init(
      scheme: scheme, host: name, port: parts.port ?? 1080, username: parts.user,
      password: parts.password)
  }

  /// The proxy that the environment names for a URL, by the variables that curl and others read: `https_proxy` for `wss`, `http_proxy` for `ws`,
  /// `all_proxy` for both; in upper case, too, but for `HTTP_PROXY`, which CGI fills from a request. nil where there is none, where `no_proxy`
  /// names the host, a domain of its or `*`, and where the proxy is none of `http://user:password@host:port`, `socks5h://` and `socks5://`. Of both the
  /// latter the proxy resolves names, where curl looks them up itself for `socks5`. Linux only.
  ///
  /// - Parameters:
  ///   - url: where to connect.
  ///   - environment: of this process where nothing else is said.
  public static func fromEnvironment(
    for url: URL, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Proxy? {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    guard let host = url.host?.lowercased(), !isDirect(host, value("no_proxy", "NO_PROXY")) else {
      return nil
    }
    let isSecure = ["wss", "https"].contains(url.scheme?.lowercased() ?? "")
    let own = isSecure ? value("https_proxy", "HTTPS_PROXY") : value("http_proxy")
    return (own ?? value("all_proxy", "ALL_PROXY")).flatMap {
      Proxy(url: $0.contains("://") ? $0 : "http://" + $0)
    }
  }

  private static func scheme(_ text: String?) -> Scheme? {
    switch text?.lowercased() {
    case "http": .http
    case "socks5", "socks5h": .socks5
    default: nil
    }
  }

  /// Whether a list of hosts and domains, by commas, has a host.
  private static func isDirect(_ host: String, _ list: String?) -> Bool {
    (list ?? "").lowercased().split(separator: ",").contains { entry in
      let name = entry.trimmingCharacters(in: .whitespaces)
      if name == "*" { return true }
      let domain = name.hasPrefix(".") ? String(name.dropFirst()) : name
      return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }
  }

  /// How signaling and TURN take it.
  var options: ProxyOptions {
    ProxyOptions(
      scheme: scheme == .http ? .http : .socks5, host: host, port: port, agent: agent,
      username: username, password: password)
  }

  /// The proxy without its secret.
  public var description: String {
    let secret = String(repeating: "*", count: password?.count ?? 0)
    return
      "scheme=\(scheme.rawValue) host=\(host) port=\(port) agent=\(agent) username=\(username ?? "") password=\(secret)"
  }
}
