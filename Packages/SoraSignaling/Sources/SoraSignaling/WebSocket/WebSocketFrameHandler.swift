import Logging
import NIOCore
import NIOSSL
import NIOWebSocket

/// RFC 6455 above the frame codec: masks, fragments, pings, the close handshake.
///
/// Confined to the event loop of its channel.
final class WebSocketFrameHandler: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketCommand
  typealias OutboundOut = WebSocketFrame

  enum Role { case client, server }

  /// How long the peer may take to answer a close frame, or to close its socket after.
  private let closeTimeout: TimeAmount

  private let role: Role
  private let connection: WebSocketConnection
  private let logger: Logger

  private var fragmentedOpcode: WebSocketOpcode?
  private var fragments = ByteBuffer()
  private var closeSent = false
  private var hasEnded = false
  private var lastError: SignalingError?
  private var isPaused = false
  private var readWanted = false

  init(role: Role, connection: WebSocketConnection, closeTimeout: Duration, logger: Logger) {
    self.role = role
    self.closeTimeout = TimeAmount(closeTimeout)
    self.connection = connection
    self.logger = logger
  }

  // MARK: Inbound

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasEnded else { return }
    let frame = unwrapInboundIn(data)
    // §5.2: no extension was agreed on, so no reserved bit may be set.
    guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
      return fail(context, .protocolError, "a reserved bit is set")
    }
    // §5.1: a client masks, a server doesn't.
    guard (frame.maskKey != nil) == (role == .server) else {
      return fail(
        context, .protocolError,
        role == .server ? "a client's frame is not masked" : "a server's frame is masked")
    }
    let payload = frame.unmaskedData
    switch frame.opcode {
    case .text, .binary:
      guard fragmentedOpcode == nil else {
        return fail(context, .protocolError, "a message starts inside another")
      }
      if frame.fin {
        deliver(context, frame.opcode, payload)
      } else {
        fragmentedOpcode = frame.opcode
        fragments = payload
      }
    case .continuation: continuation(context, payload, isLast: frame.fin)
    case .ping, .pong, .connectionClose:
      // §5.5
      guard frame.fin, payload.readableBytes <= 125 else {
        return fail(context, .protocolError, "a control frame is too long or in pieces")
      }
      control(context, frame.opcode, payload)
    default: fail(context, .protocolError, "unknown opcode")
    }
  }

  private func continuation(
    _ context: ChannelHandlerContext, _ payload: ByteBuffer, isLast: Bool
  ) {
    guard let opcode = fragmentedOpcode else {
      return fail(context, .protocolError, "a continuation without a beginning")
    }
    guard fragments.readableBytes + payload.readableBytes <= connection.maximumMessageSize else {
      return fail(context, .messageTooBig, "the message is too large")
    }
    fragments.writeImmutableBuffer(payload)
    guard isLast else { return }
    let message = fragments
    fragments = ByteBuffer()
    fragmentedOpcode = nil
    deliver(context, opcode, message)
  }

  private func deliver(
    _ context: ChannelHandlerContext, _ opcode: WebSocketOpcode, _ data: ByteBuffer
  ) {
    let message: WebSocketMessage
    if opcode == .text {
      // §8.1
      guard let text = String(validating: data.readableBytesView, as: UTF8.self) else {
        return fail(context, .invalidUTF8, "a text message is not UTF-8")
      }
      message = .text(text)
    } else {
      message = .binary(Array(data.readableBytesView))
    }
    if connection.received(message) { isPaused = true }
  }

  private func control(
    _ context: ChannelHandlerContext, _ opcode: WebSocketOpcode, _ payload: ByteBuffer
  ) {
    switch opcode {
    case .ping:
      // §5.5.3 lets a pong be left out when another follows: a peer that doesn't read must not
      // make the answers pile up.
      guard !closeSent, context.channel.isWritable else { return }
      write(context, .pong, payload, promise: nil)
      context.flush()
    case .connectionClose: closeReceived(context, payload)
    default: break
    }
  }

  private func closeReceived(_ context: ChannelHandlerContext, _ payload: ByteBuffer) {
    var payload = payload
    var close = WebSocketClose(code: .noStatusReceived)
    if payload.readableBytes > 0 {
      // §5.5.1, §7.4
      guard let code = payload.readInteger(as: UInt16.self),
        WebSocketCloseCode(rawValue: code).isSendable
      else { return fail(context, .protocolError, "a close frame has a code that is not allowed") }
      guard let reason = String(validating: payload.readableBytesView, as: UTF8.self) else {
        return fail(context, .invalidUTF8, "a close reason is not UTF-8")
      }
      close = WebSocketClose(code: WebSocketCloseCode(rawValue: code), reason: reason)
    }
    hasEnded = true
    connection.ended(close)
    let channel = context.channel
    if !closeSent {
      closeSent = true
      var echo = context.channel.allocator.buffer(capacity: 2)
      if close.code != .noStatusReceived { echo.writeInteger(close.code.rawValue) }
      let sent = context.eventLoop.makePromise(of: Void.self)
      write(context, .connectionClose, echo, promise: sent)
      context.flush()
      if role == .server { sent.futureResult.whenComplete { _ in channel.close(promise: nil) } }
    } else if role == .server {
      channel.close(promise: nil)
    }
    // §7.1.1: the server closes the TCP connection first; a client waits for that a while.
    if role == .client { closeLater(context) }
  }

  private func closeLater(_ context: ChannelHandlerContext) {
    let channel = context.channel
    let task = context.eventLoop.scheduleTask(in: closeTimeout) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in task.cancel() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(lost())
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end(lost()) }

  private func lost() -> WebSocketClose {
    let error =
      closeSent
      ? lastError
      : lastError
        ?? SignalingError(
          stage: .signaling, code: .connectionLost,
          detail: "the connection ended without a close frame",
          wayOut: "check the network and the peer, then connect again", url: connection.url)
    return WebSocketClose(code: .abnormal, error: error)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !hasEnded else { return }
    switch error {
    case NIOWebSocketError.invalidFrameLength:
      fail(context, .messageTooBig, "the message is too large")
    case is NIOWebSocketError: fail(context, .protocolError, "not a WebSocket frame: \(error)")
    case NIOSSLError.uncleanShutdown: break  // The end of the TCP connection follows.
    case let error as SignalingError:
      lastError = error
      context.close(promise: nil)
    default:
      lastError = SignalingError(
        stage: .signaling, code: .connectionLost,
        detail: "the connection broke: \(SystemErrorText.words(error))",
        wayOut: "check the network and the peer, then connect again", url: connection.url)
      context.close(promise: nil)
    }
  }

  /// §7.1.7: tells the peer why, and ends.
  private func fail(
    _ context: ChannelHandlerContext, _ code: WebSocketCloseCode, _ detail: String
  ) {
    logger.warning("a WebSocket peer broke the protocol: \(detail)")
    fragments = ByteBuffer()
    end(
      WebSocketClose(
        code: code, reason: detail,
        error: SignalingError(
          stage: .signaling, code: code == .messageTooBig ? .tooLarge : .protocolViolation,
          detail: detail, wayOut: "the peer must follow RFC 6455", url: connection.url)))
    if !closeSent {
      let sent = context.eventLoop.makePromise(of: Void.self)
      sendClose(context, code, detail, promise: sent)
      endOutput(of: context.channel, after: sent.futureResult)
    }
    closeLater(context)
  }

  /// §7.1.1: nothing that the peer sends can be read any more, not even its close frame, so the server doesn't wait for it: its
  /// end of the TCP connection closes at once. The other end stays open for a while, because closing it over unread bytes would
  /// reset the connection and lose the close frame on its way.
  private func endOutput(of channel: any Channel, after sent: EventLoopFuture<Void>) {
    guard role == .server else { return }
    isPaused = false
    if readWanted { channel.read() }
    sent.whenComplete { _ in channel.close(mode: .output, promise: nil) }
  }

  private func end(_ close: WebSocketClose) {
    guard !hasEnded else { return }
    hasEnded = true
    connection.ended(close)
  }

  // MARK: Outbound

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .message(let message):
      guard !closeSent else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      switch message {
      case .text(let text): write(context, .text, ByteBuffer(string: text), promise: promise)
      case .binary(let bytes): write(context, .binary, ByteBuffer(bytes: bytes), promise: promise)
      }
    case .close(let code, let reason):
      promise?.succeed()
      guard !closeSent else { return }
      sendClose(context, code, reason)
      closeLater(context)
    }
  }

  private func sendClose(
    _ context: ChannelHandlerContext, _ code: WebSocketCloseCode, _ reason: String,
    promise: EventLoopPromise<Void>? = nil
  ) {
    closeSent = true
    var payload = context.channel.allocator.buffer(capacity: 125)
    payload.writeInteger(code.rawValue)
    // §5.5: 125 bytes in all; a character is not cut in two.
    var room = 123
    for scalar in reason.unicodeScalars {
      let size = UTF8.width(scalar)
      guard size <= room else { break }
      room -= size
      payload.writeString(String(scalar))
    }
    write(context, .connectionClose, payload, promise: promise)
    context.flush()
  }

  private func write(
    _ context: ChannelHandlerContext, _ opcode: WebSocketOpcode, _ payload: ByteBuffer,
    promise: EventLoopPromise<Void>?
  ) {
    let frame = WebSocketFrame(
      fin: true, opcode: opcode, maskKey: role == .client ? .random() : nil, data: payload)
    context.write(wrapOutboundOut(frame), promise: promise)
  }

  // MARK: Backpressure

  func read(context: ChannelHandlerContext) {
    if isPaused {
      readWanted = true
    } else {
      context.read()
    }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is ResumeReading else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    isPaused = false
    promise?.succeed()
    if readWanted {
      readWanted = false
      context.read()
    }
  }
}
