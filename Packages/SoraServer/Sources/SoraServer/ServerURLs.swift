import SoraICE
import SoraSignaling
import SoraTransport

/// What clients can write to reach a server.
struct ServerURLs {
  let signaling: String
  /// The page by each address, never empty.
  let pages: [String]
  /// nil where the HTTP API isn't open.
  let api: String?
  /// The port of signaling and the page.
  let port: Int
  /// Whether only this machine reaches the server.
  let isLocal: Bool

  init(
    _ configuration: ServerConfiguration, signaling server: SignalingServer, api: SignalingServer?
  ) {
    port = server.boundPort
    let hosts = Self.hosts(for: configuration.host)
    let authorities = hosts.map { [port] in Self.authority($0, port: port) }
    let isSecure = configuration.tls != nil
    signaling = (isSecure ? "wss" : "ws") + "://\(authorities[0])/signaling"
    pages = authorities.map { (isSecure ? "https" : "http") + "://\($0)/" }
    self.api = api.map { "http://\(Self.authority($0.boundHost, port: $0.boundPort))/" }
    isLocal = hosts.allSatisfy { $0 == "localhost" || IPAddress($0)?.isLoopback == true }
  }

  private static func authority(_ host: String, port: Int) -> String {
    (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
  }

  /// What clients can write for a host. A wildcard can't be connected to: it is the loopback, and then each address of this machine.
  private static func hosts(for host: String) -> [String] {
    guard let wildcard = IPAddress(host), wildcard.isUnspecified else { return [host] }
    let others = ((try? NetworkLoop.hostAddresses()) ?? []).filter {
      !$0.isLoopback && !$0.ip.isLinkLocal && ($0.ip.isV4 || wildcard.isV6)
    }
    return [wildcard.isV4 ? "127.0.0.1" : "::1"] + others.filter(\.ip.isV4).map { "\($0.ip)" }
      + others.filter(\.ip.isV6).map { "\($0.ip)" }
  }
}
