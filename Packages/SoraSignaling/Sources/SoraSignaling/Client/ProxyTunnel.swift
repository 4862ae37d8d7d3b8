public import NIOCore
import SoraWire

/// The way through a proxy.
public enum ProxyTunnel {
  /// Asks for a tunnel over a connection to the proxy. On the channel's event loop.
  ///
  /// - Parameters:
  ///   - proxy: how it is spoken to, and its credentials.
  ///   - channel: the connection.
  ///   - host: name or address where the proxy shall connect to, without brackets.
  ///   - port: likewise.
  ///   - userAgent: what an HTTP proxy sees where `agent` is nil.
  ///   - fail: told of a refusal or a broken connection, with a `SignalingError` where it is the proxy's.
  ///   - next: called once the tunnel is there, to add the handlers of what goes through it.
  /// - Throws: `invalidConfiguration` for what the proxy's protocol can't express.
  public static func open(
    _ proxy: ProxyOptions, over channel: any Channel, to host: String, port: Int, userAgent: String,
    fail: @escaping (any Error) -> Void, next: @escaping (any Channel) throws -> Void
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    switch proxy.scheme {
    case .http:
      let name = host.contains(":") ? "[\(host)]" : host
      try pipeline.addHandler(
        ProxyHandshakeHandler(
          authority: "\(name):\(port)", userAgent: userAgent, proxy: proxy, fail: fail, next: next))
    case .socks5:
      let handshake = try SOCKS5Handshake(
        to: .init(host: Self.host(host), port: UInt16(clamping: port)), username: proxy.username,
        password: proxy.password)
      try pipeline.addHandler(SOCKS5Handler(handshake, fail: fail, next: next))
    }
  }

  private static func host(_ text: String) -> SOCKS5Handshake.Destination.Host {
    IPAddress(text).map { .address($0.bytes) } ?? .name(text)
  }
}
