import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// Opens WebSockets: `ws` and `wss`, directly or through a proxy.
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
    let tls = endpoint.isSecure ? TLSPreparation(options.tls) : nil
    _ = try await tls?.result.get()
    return try await begin(to: endpoint, options: options, tls: tls).connection()
  }

  /// Starts an attempt, whose socket is on its way when this returns. Only who waits for its connection can cancel it.
  static func begin(
    to endpoint: WebSocketEndpoint, options: WebSocketOptions, tls: TLSPreparation?
  ) throws(SignalingError) -> WebSocketConnectAttempt {
    try check(options, endpoint)
    let attempt = WebSocketConnectAttempt(endpoint: endpoint, options: options)
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    attempt.startDeadline(on: eventLoop)
    let bootstrap = ClientBootstrap(group: eventLoop)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connectTimeout(TimeAmount(options.timeout))
      .channelInitializer { channel in
        // Called once an address is known.
        attempt.stage = .connect
        return channel.eventLoop.makeSucceededVoidFuture()
      }
    let host = options.proxy?.host ?? endpoint.host
    let port = options.proxy?.port ?? endpoint.port
    // An address needs no resolver, with its threads and files.
    let connected =
      if let address = try? SocketAddress(ipAddress: host, port: port) {
        bootstrap.connect(to: address)
      } else {
        bootstrap.connect(host: host, port: port)
      }
    connected.whenComplete { result in
      switch result {
      case .failure(let error): attempt.fail(ConnectErrors.map(error, attempt: attempt))
      case .success(let channel):
        guard attempt.attach(channel) else { return channel.close(promise: nil) }
        begin(channel, attempt, tls)
      }
    }
    return attempt
  }

  /// On the loop, with an open connection: what goes through it, once the TLS context is there.
  static func begin(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ tls: TLSPreparation?
  ) {
    guard let tls else { return start(channel, attempt, nil) }
    channel.eventLoop.makeFutureWithTask { try await tls.result.get() }.whenComplete { result in
      switch result {
      case .success(let context):
        // Nobody but us would notice that it was closed in the meantime.
        guard channel.isActive else { return attempt.fail(ConnectErrors.ended(.tls)) }
        start(channel, attempt, context)
      case .failure(let error): attempt.fail(ConnectErrors.map(error, attempt: attempt))
      }
    }
  }

  /// On the loop: proxy first, then TLS, then the WebSocket handshake.
  private static func start(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ tls: NIOSSLContext?
  ) {
    do {
      guard let proxy = attempt.options.proxy else {
        return try addHandshake(channel, attempt, tls)
      }
      attempt.stage = .proxy
      try ProxyTunnel.open(
        proxy, over: channel, to: attempt.endpoint.host, port: attempt.endpoint.port,
        userAgent: attempt.options.userAgent,
        fail: { attempt.fail(ConnectErrors.map($0, attempt: attempt)) },
        next: { channel in try addHandshake(channel, attempt, tls) })
    } catch {
      attempt.fail(ConnectErrors.map(error, attempt: attempt))
    }
  }

  private static func addHandshake(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ tls: NIOSSLContext?
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      // The stage first: the handshake begins as soon as the handler is there.
      attempt.stage = .tls
      try pipeline.addHandler(
        NIOSSLClientHandler(context: tls, serverHostname: attempt.endpoint.serverName))
    }
    try pipeline.addHandler(ClientHandshakeHandler(attempt: attempt))
  }

  /// What goes into headers must not add lines of its own, and what can't be had is told before a socket is opened.
  private static func check(
    _ options: WebSocketOptions, _ endpoint: WebSocketEndpoint
  ) throws(SignalingError) {
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
    // A redirect leads here, too: none gets around this.
    guard options.acceptsKey == nil || endpoint.isSecure else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "acceptsKey",
        detail: "without TLS the server shows no key", wayOut: "use wss://, or leave out the pins")
    }
    guard (1...Int(UInt32.max)).contains(options.maximumMessageSize) else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "maximumMessageSize",
        value: "\(options.maximumMessageSize)", detail: "the limit is out of range",
        wayOut: "use 1 to 4294967295 bytes")
    }
  }
}
