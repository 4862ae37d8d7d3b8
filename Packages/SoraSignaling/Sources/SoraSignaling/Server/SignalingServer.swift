public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import SoraWire
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A WebSocket server at one path, with plain HTTP at all others of the same port.
///
/// It knows nothing of channels and media: it hands out connections and requests.
public final class SignalingServer: Sendable {
  public struct Configuration: Sendable {
    /// PEM files; nil serves `ws` and `http`.
    public var tls: TLSOptions.Identity?
    /// The path of WebSockets, compared exactly.
    public var path: String
    /// Bytes of one message, fragments together.
    public var maximumMessageSize: Int
    /// Bytes that a client may leave unread of what it is sent, before it is dropped.
    public var maximumUnsentBytes: Int
    /// How long a client may take for TLS and one request, and stay idle between requests.
    public var requestTimeout: Duration
    /// How long a client may take to answer a close frame, before the socket is closed anyway.
    public var closeTimeout: Duration
    /// More clients at once are turned away.
    public var maximumConnections: Int
    /// Beyond so many sockets of one client's network that are no WebSockets (yet), its further ones are turned away, so that others find
    /// room.
    public var maximumPendingSockets: Int
    public var logger: Logger

    public init(
      tls: TLSOptions.Identity? = nil, path: String = "/signaling",
      maximumMessageSize: Int = SignalingMessage.maximumSize,
      maximumUnsentBytes: Int = WebSocketConnection.usualUnsentBytes,
      requestTimeout: Duration = .seconds(10), closeTimeout: Duration = .seconds(3),
      maximumConnections: Int = 10_000, maximumPendingSockets: Int = .max,
      logger: Logger = Logger(label: "sora.signaling.server")
    ) {
      self.tls = tls
      self.path = path
      self.maximumMessageSize = maximumMessageSize
      self.maximumUnsentBytes = maximumUnsentBytes
      self.requestTimeout = requestTimeout
      self.closeTimeout = closeTimeout
      self.maximumConnections = maximumConnections
      self.maximumPendingSockets = maximumPendingSockets
      self.logger = logger
    }
  }

  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var connections: [ObjectIdentifier: WebSocketConnection] = [:]
    /// Where the sockets come from that are no WebSockets, and how many come from each place.
    private var pending: [ObjectIdentifier: ClientNetwork] = [:]
    private var counts: [ClientNetwork: Int] = [:]
    var isStopped = false

    /// Counts one more of a network; false where there are as many as there may be.
    mutating func admit(_ key: ObjectIdentifier, from network: ClientNetwork, limit: Int) -> Bool {
      guard counts[network, default: 0] < limit else { return false }
      counts[network, default: 0] += 1
      pending[key] = network
      return true
    }

    /// It is a WebSocket now, or closed.
    mutating func settle(_ key: ObjectIdentifier) {
      guard let network = pending.removeValue(forKey: key), let count = counts[network] else {
        return
      }
      counts[network] = count > 1 ? count - 1 : nil
    }
  }

  /// What the open sockets of one server share.
  private final class Registry: Sendable {
    private let state = Mutex(State())

    func add(_ channel: any Channel, _ configuration: Configuration) -> Bool {
      let key = ObjectIdentifier(channel)
      let network = channel.remoteAddress?.ipAddress.flatMap { ClientNetwork($0) }
      let isAdded = state.withLock { state in
        guard !state.isStopped, state.channels.count < configuration.maximumConnections else {
          return false
        }
        if let network,
          !state.admit(key, from: network, limit: configuration.maximumPendingSockets)
        {
          return false
        }
        state.channels[key] = channel
        return true
      }
      guard isAdded else { return false }
      channel.closeFuture.whenComplete { [self] _ in
        state.withLock { state in
          state.channels[key] = nil
          state.connections[key] = nil
          state.settle(key)
        }
      }
      return true
    }

    func add(_ connection: WebSocketConnection, on channel: any Channel) {
      let isStopped = state.withLock { state in
        if state.channels[ObjectIdentifier(channel)] != nil {
          state.connections[ObjectIdentifier(channel)] = connection
          state.settle(ObjectIdentifier(channel))
        }
        return state.isStopped
      }
      if isStopped { connection.close(code: .goingAway) }
    }

    func stop() -> (connections: [WebSocketConnection], channels: [any Channel]) {
      state.withLock { state in
        state.isStopped = true
        let sockets = Set(state.connections.keys)
        return (
          Array(state.connections.values),
          state.channels.filter { !sockets.contains($0.key) }.map(\.value)
        )
      }
    }

    var all: [any Channel] { state.withLock { Array($0.channels.values) } }
  }

  /// The port that is open; of port 0, the one that the system chose.
  public let boundPort: Int
  /// The address that is open.
  public let boundHost: String
  public let configuration: Configuration

  private let channel: any Channel
  private let tls: ServerTLS?
  private let registry: Registry

  /// Opens the port.
  ///
  /// - Parameters:
  ///   - host: an address or name of this machine; `0.0.0.0` or `::` for all addresses.
  ///   - port: 0 takes a free one.
  ///   - configuration: path, TLS, and limits of size, time and number.
  ///   - http: answers every request that is no WebSocket handshake at the path. Runs in a task
  ///     of its own for each request.
  ///   - onConnection: called on the event loop, before the first message; must not block.
  /// - Throws: `listenFailed`, or `invalidConfiguration` for files that can't be used.
  public static func start(
    host: String = "127.0.0.1", port: Int = 0, configuration: Configuration = Configuration(),
    http: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = { _ in .notFound },
    onConnection: @escaping @Sendable (WebSocketConnection) -> Void
  ) async throws(SignalingError) -> SignalingServer {
    guard (0...65535).contains(port) else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "port", value: "\(port)",
        detail: "the port is out of range", wayOut: "use 0 to 65535")
    }
    let tls: ServerTLS?
    if let identity = configuration.tls {
      tls = try ServerTLS(identity)
    } else {
      tls = nil
    }
    let registry = Registry()
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard registry.add(channel, configuration) else {
            configuration.logger.warning("a client was turned away: too many connections")
            throw ChannelError.operationUnsupported
          }
          try initialize(
            channel, configuration: configuration, tls: tls, registry: registry, http: http,
            onConnection: onConnection)
        }
      }
    let channel: any Channel
    do {
      channel = try await bootstrap.bind(host: host, port: port).get()
    } catch {
      throw listenError(error, host: host, port: port)
    }
    return SignalingServer(
      channel: channel, configuration: configuration, tls: tls, registry: registry)
  }

  private static func listenError(_ error: any Error, host: String, port: Int) -> SignalingError {
    let code = (error as? IOError)?.errnoCode
    let (detail, wayOut) =
      switch code {
      case EADDRINUSE:
        (
          "the port is in use",
          "end the program that has it, or choose another port (0 takes a free one)"
        )
      case EADDRNOTAVAIL:
        (
          "the host is no address of this machine",
          "use one of its own, 127.0.0.1 for this machine alone or 0.0.0.0 for all of them"
        )
      case EACCES, EPERM:
        (
          "the port needs more rights than this user has",
          "choose a port from 1024 on, or give the program CAP_NET_BIND_SERVICE"
        )
      case nil:
        (
          "the host's name is unknown",
          "use an address of this machine, such as 127.0.0.1 or 0.0.0.0"
        )
      default:
        (
          "the port can't be opened: \(SystemErrorText.words(error))",
          "choose an address of this machine and a free port, or port 0"
        )
      }
    return SignalingError(
      stage: .listen, code: .listenFailed, field: "host:port",
      value: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)", detail: detail,
      wayOut: wayOut)
  }

  private init(
    channel: any Channel, configuration: Configuration, tls: ServerTLS?, registry: Registry
  ) {
    self.channel = channel
    self.tls = tls
    self.configuration = configuration
    self.registry = registry
    boundPort = channel.localAddress?.port ?? 0
    boundHost = channel.localAddress?.ipAddress ?? ""
  }

  /// Reads certificate and key again, for clients that come from now on. Nothing happens without TLS.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault; what was read before stays in use.
  public func reloadTLS() throws(SignalingError) { try tls?.reload() }

  /// Closes the port, closes every WebSocket with 1001, and waits until all have ended, at the
  /// latest after the close timeout.
  public func stop() async {
    try? await channel.close()
    let (connections, channels) = registry.stop()
    for connection in connections { connection.close(code: .goingAway, reason: "server stops") }
    for channel in channels { channel.close(promise: nil) }
    for channel in registry.all { try? await channel.closeFuture.get() }
  }

  // MARK: One client

  private static func initialize(
    _ channel: any Channel, configuration: Configuration, tls: ServerTLS?,
    registry: Registry, http: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    onConnection: @escaping @Sendable (WebSocketConnection) -> Void
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let deadline = RequestDeadline(
      channel: channel, limit: TimeAmount(configuration.requestTimeout))
    deadline.start()
    let boundDeadline = NIOLoopBound(deadline, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in boundDeadline.value.stop() }
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context)) }

    let codec = HTTPServerCodec()
    try pipeline.addHandler(codec.encoder)
    for handler in codec.inbound { try pipeline.addHandler(handler) }
    try pipeline.addHandler(
      HTTPServerHandler(
        path: configuration.path, codec: codec, deadline: boundDeadline, respond: http
      ) { channel, request in
        let connection = WebSocketConnection(
          channel: channel, url: request.path, request: request,
          maximumMessageSize: configuration.maximumMessageSize,
          maximumUnsentBytes: configuration.maximumUnsentBytes, logger: configuration.logger)
        try channel.pipeline.syncOperations.addHandlers([
          WebSocketFrameEncoder(),
          ByteToMessageHandler(
            WebSocketFrameDecoder(maxFrameSize: configuration.maximumMessageSize)),
          WebSocketFrameHandler(
            role: .server, connection: connection, closeTimeout: configuration.closeTimeout,
            logger: configuration.logger),
        ])
        registry.add(connection, on: channel)
        onConnection(connection)
      })
  }
}
