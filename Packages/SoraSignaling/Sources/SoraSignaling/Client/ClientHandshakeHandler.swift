import Foundation
import NIOCore
import NIOSSL
import NIOTLS
import NIOWebSocket

/// The client's side of the opening handshake (RFC 6455 §4.1), after TLS if there is any.
final class ClientHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let attempt: WebSocketConnectAttempt
  private let key: String
  private var received: [UInt8] = []
  private var isDone = false

  init(attempt: WebSocketConnectAttempt) {
    self.attempt = attempt
    var random = SystemRandomNumberGenerator()
    key = Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
      .base64EncodedString()
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if attempt.endpoint.isSecure {
      attempt.stage = .tls
    } else {
      sendRequest(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent {
      // Nothing has been said yet to whom it isn't meant for.
      guard showsAcceptedKey(context) else {
        return attempt.fail(ConnectErrors.keyRefused(attempt))
      }
      sendRequest(context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func showsAcceptedKey(_ context: ChannelHandlerContext) -> Bool {
    guard let accepts = attempt.options.acceptsKey else { return true }
    let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
    guard let key = try? certificate?.extractPublicKey().toSPKIBytes() else { return false }
    return accepts(key)
  }

  private func sendRequest(_ context: ChannelHandlerContext) {
    attempt.stage = .upgrade
    let request = """
      GET \(attempt.endpoint.target) HTTP/1.1\r
      Host: \(attempt.endpoint.hostHeader)\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Key: \(key)\r
      Sec-WebSocket-Version: 13\r
      User-Agent: \(attempt.options.userAgent)\r
      \r

      """
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return context.fireChannelRead(data) }
    received.append(contentsOf: unwrapInboundIn(data).readableBytesView)
    do {
      guard let head = try HTTPResponseHead.parse(received) else { return }
      isDone = true
      if let error = check(head) { return attempt.fail(error) }
      try open(context, rest: Array(received[head.size...]))
    } catch let error as HTTPResponseHead.Malformed {
      isDone = true
      attempt.fail(invalid(error.detail))
    } catch {
      isDone = true
      attempt.fail(ConnectErrors.map(error, attempt: attempt))
    }
  }

  private func check(_ head: HTTPResponseHead) -> SignalingError? {
    guard head.status == 101 else {
      return SignalingError(
        stage: .upgrade, code: .unexpectedStatus(head.status), field: "url.path",
        value: attempt.endpoint.target,
        detail: "the server answered with HTTP status \(head.status) instead of 101",
        wayOut: "check the URL's path; Sora's is exactly /signaling")
    }
    guard head.headers.contains("websocket", in: "Upgrade"),
      head.headers.contains("upgrade", in: "Connection")
    else { return invalid("the response does not upgrade to WebSocket") }
    guard head.headers["Sec-WebSocket-Accept"] == Self.accept(for: key) else {
      return invalid("Sec-WebSocket-Accept does not match the key")
    }
    guard head.headers["Sec-WebSocket-Extensions"] == nil,
      head.headers["Sec-WebSocket-Protocol"] == nil
    else { return invalid("the server chose an extension or a subprotocol that nobody offered") }
    return nil
  }

  static func accept(for key: String) -> String {
    Data(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
      .base64EncodedString()
  }

  private func invalid(_ detail: String) -> SignalingError {
    SignalingError(
      stage: .upgrade, code: .invalidHandshake, detail: detail,
      wayOut: "check that the URL is that of a WebSocket server (RFC 6455)")
  }

  private func open(_ context: ChannelHandlerContext, rest: [UInt8]) throws {
    received = []
    let options = attempt.options
    let connection = WebSocketConnection(
      channel: context.channel, url: attempt.endpoint.text, request: nil,
      maximumMessageSize: options.maximumMessageSize, logger: options.logger)
    let pipeline = context.pipeline.syncOperations
    try pipeline.addHandlers([
      WebSocketFrameEncoder(),
      ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: options.maximumMessageSize)),
      WebSocketFrameHandler(
        role: .client, connection: connection, closeTimeout: options.closeTimeout,
        logger: options.logger),
    ])
    guard attempt.succeed(connection) else {
      connection.close()
      return
    }
    // What the server sent right after its response.
    if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
    pipeline.removeHandler(self, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone { attempt.fail(ConnectErrors.ended(attempt.stage)) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isDone else { return context.fireErrorCaught(error) }
    attempt.fail(ConnectErrors.map(error, attempt: attempt))
  }
}
