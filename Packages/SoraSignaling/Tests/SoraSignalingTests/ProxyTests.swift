import Foundation
import NIOCore
import NIOPosix
import SoraSignaling
import Testing

/// An HTTP proxy that knows `CONNECT` and Basic authentication.
final class TestProxy: Sendable {
  let requests = Recorder<String>()
  let port: Int
  private let channel: any Channel

  init(credentials: String? = nil) async throws {
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

  func stop() async { try? await channel.close() }
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

@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
  private func exchange(_ url: String, _ options: WebSocketOptions) async throws {
    let connection = try await WebSocketClient.connect(url: url, options: options)
    connection.send(text: "through")
    var messages = connection.messages.makeAsyncIterator()
    #expect(await messages.next() == .text("through"))
    connection.close()
    #expect(await messages.next() == .closed(WebSocketClose(code: .normal)))
  }

  @Test func plainWithoutAuthentication() async throws {
    let proxy = try await TestProxy()
    let server = try await startServer(serve: echo)
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: proxy.port, agent: "Agent/2")
    try await exchange(server.url, options)
    let request = try #require(proxy.requests.elements.first)
    #expect(request.hasPrefix("CONNECT 127.0.0.1:\(server.boundPort) HTTP/1.1\r\n"))
    #expect(request.contains("User-Agent: Agent/2\r\n"))
    #expect(!request.contains("Proxy-Authorization"))
    await server.stop()
    await proxy.stop()
  }

  @Test func basicAuthenticationAndTLS() async throws {
    let certificates = try await Certificates.shared.value
    let proxy = try await TestProxy(credentials: "user:pa:ss é")
    var configuration = SignalingServer.Configuration()
    configuration.tls = certificates.identity("server")
    let server = try await startServer(configuration: configuration, serve: echo)
    var options = WebSocketOptions()
    options.tls.trust = .file(certificates.path("ca.pem"))
    options.proxy = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: "user", password: "pa:ss é")
    try await exchange("wss://localhost:\(server.boundPort)/signaling", options)

    options.tls.trust = .system
    let error = await errorOf {
      try await exchange("wss://localhost:\(server.boundPort)/signaling", options)
    }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    await server.stop()
    await proxy.stop()
  }

  @Test(arguments: [nil, "wrong"])
  func wrongCredentials(password: String?) async throws {
    let proxy = try await TestProxy(credentials: "user:right")
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: password == nil ? nil : "user",
      password: password)
    let error = await errorOf { try await exchange("ws://127.0.0.1:1/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .proxyAuthenticationRequired)
    await proxy.stop()
  }

  @Test func refusedByProxy() async throws {
    let proxy = try await TestProxy()
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: proxy.port)
    let error = await errorOf {
      try await exchange("wss://forbidden.example/signaling", options)
    }
    #expect(error?.stage == .proxy && error?.code == .proxyRefused(status: 403))
    // The name is the proxy's to resolve.
    #expect(proxy.requests.elements.first?.hasPrefix("CONNECT forbidden.example:443 ") == true)
    await proxy.stop()
  }

  @Test func proxyIsDown() async throws {
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: try unusedPort())
    let error = await errorOf { try await exchange("ws://sora.invalid/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .refused && error?.field == "proxy")
  }

  @Test func noProxyAtAll() async throws {
    let server = try await RawServer { _ in Array("SSH-2.0-x\r\n\r\n".utf8) }
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: server.port)
    let error = await errorOf { try await exchange("ws://sora.invalid/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .invalidHandshake)
    await server.stop()
  }
}
