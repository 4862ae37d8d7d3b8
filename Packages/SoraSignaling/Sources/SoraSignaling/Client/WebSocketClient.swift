import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// Opens WebSockets: `ws` and `wss`, directly or through an HTTP proxy.
public enum WebSocketClient {
  /// Opens one WebSocket, without subprotocol and extensions.
  ///
  /// Cancelling the task ends the attempt at once.
  ///
  /// - Throws: where the attempt ended (`stage`), why (`code`), and what to change.
  public static func connect(
    url: String, options: WebSocketOptions = WebSocketOptions()
  ) async throws(SignalingError) -> WebSocketConnection {
    let endpoint = try WebSocketEndpoint(url)
    let context = endpoint.isSecure ? try TLSContexts.client(options.tls) : nil
    return try await connect(to: endpoint, options: options, tls: context)
  }

  static func connect(
    to endpoint: WebSocketEndpoint, options: WebSocketOptions, tls: NIOSSLContext?
  ) async throws(SignalingError) -> WebSocketConnection {
    try check(options)
    let attempt = WebSocketConnectAttempt(endpoint: endpoint, options: options)
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    attempt.startDeadline(on: eventLoop)
    ClientBootstrap(group: eventLoop)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connectTimeout(TimeAmount(options.timeout))
      .channelInitializer { channel in
        // Called once an address is known.
        attempt.stage = .connect
        return channel.eventLoop.makeSucceededVoidFuture()
      }
      .connect(
        host: options.proxy?.host ?? endpoint.host, port: options.proxy?.port ?? endpoint.port
      )
      .whenComplete { result in
        switch result {
        case .failure(let error): attempt.fail(ConnectErrors.map(error, attempt: attempt))
        case .success(let channel):
          guard attempt.attach(channel) else { return channel.close(promise: nil) }
          do {
            try start(channel, attempt, tls)
          } catch {
            attempt.fail(ConnectErrors.map(error, attempt: attempt))
          }
        }
      }
    switch await attempt.outcome() {
    case .success(let connection): return connection
    case .failure(let error): throw error
    }
  }

  /// On the loop: proxy first, then TLS, then the WebSocket handshake.
  private static func start(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ tls: NIOSSLContext?
  ) throws {
    guard let proxy = attempt.options.proxy else {
      return try addHandshake(channel, attempt, tls)
    }
    attempt.stage = .proxy
    try channel.pipeline.syncOperations.addHandler(
      ProxyHandshakeHandler(
        authority: attempt.endpoint.authority, userAgent: attempt.options.userAgent, proxy: proxy,
        fail: { attempt.fail(ConnectErrors.map($0, attempt: attempt)) },
        next: { channel in try addHandshake(channel, attempt, tls) }))
  }

  private static func addHandshake(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ tls: NIOSSLContext?
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      // The stage first: the handshake begins as soon as the handler is there.
      attempt.stage = .tls
      // No server name for an address: SNI is for names (RFC 6066 §3), and the address of the
      // peer is what the certificate is then checked against.
      let isAddress = (try? SocketAddress(ipAddress: attempt.endpoint.host, port: 0)) != nil
      try pipeline.addHandler(
        NIOSSLClientHandler(
          context: tls, serverHostname: isAddress ? nil : attempt.endpoint.host))
    }
    try pipeline.addHandler(ClientHandshakeHandler(attempt: attempt))
  }

  /// What goes into headers must not add lines of its own.
  private static func check(_ options: WebSocketOptions) throws(SignalingError) {
    let texts = [
      ("userAgent", options.userAgent), ("proxy.agent", options.proxy?.agent ?? ""),
      ("proxy.host", options.proxy?.host ?? ""),
    ]
    for (field, text) in texts where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: field,
        detail: "the text has control characters", wayOut: "use printable characters")
    }
    if let proxy = options.proxy, !(1...65535).contains(proxy.port) || proxy.host.isEmpty {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "proxy",
        value: "\(proxy.host):\(proxy.port)", detail: "the proxy has no valid address",
        wayOut: "give its host and a port within 1...65535")
    }
    guard (1...Int(UInt32.max)).contains(options.maximumMessageSize) else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "maximumMessageSize",
        value: "\(options.maximumMessageSize)", detail: "the limit is out of range",
        wayOut: "use 1 to 4294967295 bytes")
    }
  }
}
