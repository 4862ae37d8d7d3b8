import NIOCore
import NIOPosix

/// A SOCKS 5 proxy (RFC 1928) that knows CONNECT, and user names (RFC 1929).
public final class TestSOCKSProxy: Sendable {
  /// Where clients wanted to go, as `host:port`, a name in quotes.
  public let requests = Recorder<String>()
  public let port: Int
  private let channel: any Channel

  /// - Parameter credentials: name and password that it asks for; nil for none.
  public init(credentials: (String, String)? = nil) async throws {
    let requests = requests
    let expected = credentials.map { name, password in
      [1, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(password.utf8.count)]
        + Array(password.utf8)
    }
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            SOCKSProxyHandler(requests: requests, expected: expected))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  public func stop() async { try? await channel.close() }
}

/// Each message of a client comes whole, as it waits for answers.
private final class SOCKSProxyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private enum State { case greeting, credentials, request, open }

  private let requests: Recorder<String>
  private let expected: [UInt8]?
  private var state = State.greeting
  private var target: (any Channel)?

  init(requests: Recorder<String>, expected: [UInt8]?) {
    self.requests = requests
    self.expected = expected
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    let bytes = Array(buffer.readableBytesView)
    switch state {
    case .greeting:
      let wanted: UInt8 = expected == nil ? 0 : 2
      guard bytes.first == 5, bytes.dropFirst(2).contains(wanted) else {
        return reply(context, [5, 0xFF])
      }
      state = expected == nil ? .request : .credentials
      reply(context, [5, wanted])
    case .credentials:
      state = .request
      reply(context, [1, bytes == expected ? 0 : 1])
    case .request: connect(context, bytes)
    case .open: target?.writeAndFlush(buffer, promise: nil)
    }
  }

  private func connect(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
    guard bytes.count > 7, bytes[0] == 5, bytes[1] == 1 else { return reply(context, [5, 7]) }
    let host: String
    switch bytes[3] {
    case 1: host = bytes[4..<8].map(String.init).joined(separator: ".")
    case 3: host = String(decoding: bytes[5..<(bytes.count - 2)], as: UTF8.self)
    default: return reply(context, [5, 8, 0, 1, 0, 0, 0, 0, 0, 0])
    }
    let port = Int(bytes[bytes.count - 2]) << 8 | Int(bytes[bytes.count - 1])
    requests.append(bytes[3] == 3 ? "\"\(host)\":\(port)" : "\(host):\(port)")
    guard host != "forbidden.example" else {
      return reply(context, [5, 2, 0, 1, 0, 0, 0, 0, 0, 0])
    }
    state = .open
    let client = context.channel
    ClientBootstrap(group: context.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Forwarder(to: client))
        }
      }
      .connect(host: host, port: port)
      .assumeIsolated()
      .whenComplete { result in
        self.target = try? result.get()
        let code: UInt8 = self.target == nil ? 5 : 0
        client.writeAndFlush(
          ByteBuffer(bytes: [5, code, 0, 1, 127, 0, 0, 1, 0, 80]), promise: nil)
      }
  }

  private func reply(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
    context.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { target?.close(promise: nil) }
}
