import NIOCore
import NIOPosix
public import SoraICE
public import SoraTransport

/// Accepts TCP connections of TURN clients, for a server.
public final class TURNStreamListener: Sendable {
  /// What a connection is, and what its events go to. Called on any thread; the events follow in order.
  public typealias Acceptance =
    @Sendable (TURNServer.Client, any ICEStreamConnection) -> @Sendable (ICEStreamEvent) -> Void

  /// Where it listens.
  public let address: TransportAddress
  private let channel: any Channel

  private init(_ channel: any Channel, _ address: TransportAddress) {
    self.channel = channel
    self.address = address
  }

  /// Listens on an address and port of this host.
  public static func start(
    on address: TransportAddress, accept: @escaping Acceptance
  ) async throws -> TURNStreamListener {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
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
          try channel.pipeline.syncOperations.addHandler(
            TURNStreamHandler(connection, waitsForTLS: false))
        }
      }
      .bind(host: "\(address.ip)", port: Int(address.port)).get()
    guard let bound = TransportAddress(channel.localAddress) else {
      try await channel.close()
      throw ChannelError.unknownLocalAddress
    }
    return TURNStreamListener(channel, bound)
  }

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
