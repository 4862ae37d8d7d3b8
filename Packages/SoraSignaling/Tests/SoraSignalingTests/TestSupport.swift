import Foundation
import NIOCore
import NIOPosix
import SignalingTestSupport
import SoraSignaling
import Testing

extension SignalingServer.Configuration {
  /// With time for clients that wait for a thread among hundreds of tests.
  static var patient: Self { Self(requestTimeout: .seconds(120)) }
}

/// A `SignalingServer` whose connections are handled by a closure, each in its own task.
func startServer(
  host: String = "127.0.0.1",
  configuration: SignalingServer.Configuration = .patient,
  http: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = { _ in .notFound },
  serve: @escaping @Sendable (WebSocketConnection) async -> Void
) async throws -> SignalingServer {
  try await SignalingServer.start(host: host, configuration: configuration, http: http) {
    connection in
    Task { await serve(connection) }
  }
}

extension SignalingServer {
  var url: String { "ws://127.0.0.1:\(boundPort)/signaling" }
}

/// Runs to the end of a connection and tells how it ended.
func drain(_ connection: WebSocketConnection) async -> WebSocketClose? {
  for await event in connection.messages {
    if case .closed(let close) = event { return close }
  }
  return nil
}

func echo(_ connection: WebSocketConnection) async {
  for await event in connection.messages {
    switch event {
    case .text(let text): connection.send(text: text)
    case .binary(let bytes): connection.send(binary: bytes)
    case .closed: return
    }
  }
}

/// Opens a WebSocket through what the options say, sends one message to an `echo`, and closes.
func exchange(_ url: String, _ options: WebSocketOptions) async throws {
  let connection = try await WebSocketClient.connect(url: url, options: options)
  connection.send(text: "through")
  var messages = connection.messages.makeAsyncIterator()
  #expect(await messages.next() == .text("through"))
  connection.close()
  #expect(await messages.next() == .closed(WebSocketClose(code: .normal)))
}

func errorOf(_ body: () async throws -> Void) async -> SignalingError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? SignalingError
  }
}

/// A TCP peer that says what a test wants, byte for byte.
final class RawServer: Sendable {
  /// Everything that came, over all connections.
  let received: Recorder<[UInt8]>
  let closed: Recorder<Void>
  let port: Int
  private let channel: any Channel

  var url: String { "ws://127.0.0.1:\(port)/signaling" }

  /// - Parameter answer: gets the request's text once, up to its empty line.
  init(_ answer: @escaping @Sendable (String) -> [UInt8]?) async throws {
    let received = Recorder<[UInt8]>()
    let closed = Recorder<Void>()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            RawHandler(answer: answer, received: received, closed: closed))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
    self.received = received
    self.closed = closed
  }

  func stop() async { try? await channel.close() }
}

final class RawHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let answer: (String) -> [UInt8]?
  private let received: Recorder<[UInt8]>
  private let closed: Recorder<Void>
  private var request: [UInt8]? = []

  init(
    answer: @escaping (String) -> [UInt8]?, received: Recorder<[UInt8]>, closed: Recorder<Void>
  ) {
    self.answer = answer
    self.received = received
    self.closed = closed
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Array(unwrapInboundIn(data).readableBytesView)
    guard var request else { return received.append(bytes) }
    request.append(contentsOf: bytes)
    self.request = request
    guard request.suffix(4) == [13, 10, 13, 10] else { return }
    self.request = nil
    if let response = answer(String(decoding: request, as: UTF8.self)) {
      context.channel.writeAndFlush(ByteBuffer(bytes: response), promise: nil)
    } else {
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) { closed.append(()) }
}

/// The response that accepts the handshake of a request.
func acceptance(_ request: String) -> [UInt8] {
  let line = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") } ?? ""
  let key = line.dropFirst("Sec-WebSocket-Key: ".count)
  let digest = SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
  let accept = Data(digest).base64EncodedString()
  return Array(
    ("HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n"
      + "Sec-WebSocket-Accept: \(accept)\r\n\r\n").utf8)
}

/// A TCP client that sends bytes and records what comes.
final class RawClient: Sendable {
  let received = Recorder<[UInt8]>()
  let closed = Recorder<Void>()
  private let channel: any Channel

  /// - Parameters:
  ///   - port: the server's.
  ///   - reads: false for one that takes nothing of what comes.
  ///   - goesOn: whether it sends on when the server has ended its side.
  init(port: Int, reads: Bool = true, goesOn: Bool = false) async throws {
    let (received, closed) = (received, closed)
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: reads)
      .channelOption(.allowRemoteHalfClosure, value: goesOn)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            RawClientHandler(received: received, closed: closed))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
  func send(_ text: String) { send(Array(text.utf8)) }
  func close() { channel.close(promise: nil) }

  /// Sends bytes, and waits until the system has taken them.
  func sendAll(_ bytes: [UInt8]) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  /// All bytes so far.
  var bytes: [UInt8] { received.elements.flatMap { $0 } }

  /// Waits until the bytes so far satisfy a condition, or nothing more can come.
  func wait(until condition: ([UInt8]) -> Bool) async -> [UInt8] {
    while true {
      let parts = received.elements
      let bytes = parts.flatMap { $0 }
      if condition(bytes) || Task.isCancelled || !closed.elements.isEmpty { return bytes }
      await received.wait(for: parts.count + 1)
    }
  }

  static let upgrade =
    "GET /signaling HTTP/1.1\r\nHost: anything\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
}

final class RawClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let received: Recorder<[UInt8]>
  private let closed: Recorder<Void>

  init(received: Recorder<[UInt8]>, closed: Recorder<Void>) {
    self.received = received
    self.closed = closed
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.append(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelInactive(context: ChannelHandlerContext) {
    closed.append(())
    // Wakes who waits for bytes.
    received.append([])
  }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
