import NIOCore
import NIOPosix
import NIOSSL
public import SoraICE
public import SoraSignaling
public import SoraTransport

/// Accepts connections of TURN clients over TCP or TLS, for a server.
public final class TURNStreamListener: Sendable {
  /// What a connection is, and what its events go to. Called on any thread; the events follow in order.
  public typealias Acceptance =
    @Sendable (TURNServer.Client, any ICEStreamConnection) -> @Sendable (ICEStreamEvent) -> Void

  /// Where it listens.
  public let address: TransportAddress
  /// Whether clients have to speak TLS: `turns:`.
  public var isSecure: Bool { tls != nil }
  private let channel: any Channel
  private let tls: ServerTLS?

  private init(_ channel: any Channel, _ address: TransportAddress, _ tls: ServerTLS?) {
    self.channel = channel
    self.address = address
    self.tls = tls
  }

  /// Listens on an address and port of this host.
  ///
  /// - Parameters:
  ///   - address: port 0 takes a free one.
  ///   - tls: the certificate and key of `turns:`; nil for plain TCP. A connection's events begin when its handshake is over.
  ///   - accept: called for each connection.
  /// - Throws: `SignalingError` where the TLS files can't be used, `NetworkError` where it can't listen.
  public static func start(
    on address: TransportAddress, tls: TLSOptions.Identity? = nil, accept: @escaping Acceptance
  ) async throws -> TURNStreamListener {
    let secured = try tls.map { try ServerTLS($0) }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 64)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let local = TransportAddress(channel.localAddress),
            let remote = TransportAddress(channel.remoteAddress)
          else { throw ChannelError.unknownLocalAddress }
          let relay = EventRelay()
          let connection = TURNStreamConnection(eventLoop: channel.eventLoop) {
            relay.handler?($0)
          }
          _ = connection.attach(channel)
          relay.handler = accept(
            TURNServer.Client(local: local, remote: remote, isStream: true), connection)
          if let secured {
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLServerHandler(context: secured.context))
          }
          try channel.pipeline.syncOperations.addHandler(
            TURNStreamHandler(connection, waitsForTLS: secured != nil))
        }
      }
    let channel: any Channel
    do {
      channel = try await bootstrap.bind(host: "\(address.ip)", port: Int(address.port)).get()
    } catch let error as IOError {
      throw NetworkError.binding(address, code: error.errnoCode, kind: "TCP")
    }
    guard let bound = TransportAddress(channel.localAddress) else {
      try await channel.close()
      throw ChannelError.unknownLocalAddress
    }
    return TURNStreamListener(channel, bound, secured)
  }

  /// Reads certificate and key again, for connections that come from now on. Nothing happens without TLS.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault; what was read before stays in use.
  public func reloadTLS() throws(SignalingError) { try tls?.reload() }

  /// Accepts no more; connections that are open stay.
  public func stop() async { try? await channel.close() }
}

/// Where a connection's events go, which is known only once the connection is there.
private final class EventRelay: @unchecked Sendable {
  // @unchecked: set once, on the connection's event loop, before its first event, and read on that loop only.
  var handler: (@Sendable (ICEStreamEvent) -> Void)?
}

extension TransportAddress {
  fileprivate init?(_ address: SocketAddress?) {
    guard let address, let text = address.ipAddress, let port = address.port,
      let ip = IPAddress(String(text.prefix { $0 != "%" }))
    else { return nil }
    self.init(ip: ip, port: UInt16(clamping: port))
  }
}
