import Foundation
import NIOCore
import NIOPosix

/// An HTTP proxy that knows `CONNECT` and Basic authentication.
public final class TestProxy: Sendable {
  /// The heads of the requests that came.
  public let requests = Recorder<String>()
  public let port: Int
  private let channel: any Channel

  /// - Parameter credentials: `user:password` that it asks for; nil for none.
  public init(credentials: String? = nil) async throws {
    let requests = requests
    let expected = credentials.map { "Basic " + Data($0.utf8).base64EncodedString() }
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ProxyHandler(requests: requests, expected: expected))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  public func stop() async { try? await channel.close() }
}

final class ProxyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let requests: Recorder<String>
  private let expected: String?
  private var head = ""
  private var isOpen = false
  private var target: (any Channel)?

  init(requests: Recorder<String>, expected: String?) {
    self.requests = requests
    self.expected = expected
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    if isOpen {
      target?.writeAndFlush(buffer, promise: nil)
      return
    }
    head += String(buffer: buffer)
    guard head.hasSuffix("\r\n\r\n") else { return }
    requests.append(head)
    if let expected, !head.contains("Proxy-Authorization: \(expected)\r\n") {
      return reply(
        context, "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n")
    }
    let words = head.split(separator: " ")
    let address = words[1].split(separator: ":")
    guard words[0] == "CONNECT", address.count == 2, let port = Int(address[1]),
      address[0] != "forbidden.example"
    else { return reply(context, "HTTP/1.1 403 Forbidden\r\n\r\n") }
    isOpen = true
    let client = context.channel
    ClientBootstrap(group: context.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Forwarder(to: client))
        }
      }
      .connect(host: String(address[0]), port: port)
      .assumeIsolated()
      .whenSuccess { channel in
        self.target = channel
        let response = "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n"
        client.writeAndFlush(ByteBuffer(string: response), promise: nil)
      }
  }

  private func reply(_ context: ChannelHandlerContext, _ text: String) {
    context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { target?.close(promise: nil) }
}

final class Forwarder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let channel: any Channel
  init(to channel: any Channel) { self.channel = channel }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    channel.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }
  func channelInactive(context: ChannelHandlerContext) { channel.close(promise: nil) }
}
