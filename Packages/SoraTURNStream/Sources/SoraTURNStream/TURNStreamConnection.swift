import NIOCore
import NIOSSL
import NIOTLS
import SoraSignaling
import SoraTransport
import Synchronization

/// One connection to a TURN server or from a client. Safe from any thread.
final class TURNStreamConnection: ICEStreamConnection {
  private struct State {
    var channel: (any Channel)?
    var isOpen = false
    var isEnded = false
  }

  private let eventLoop: any EventLoop
  private let events: @Sendable (ICEStreamEvent) -> Void
  private let state = Mutex(State())

  init(eventLoop: any EventLoop, events: @escaping @Sendable (ICEStreamEvent) -> Void) {
    self.eventLoop = eventLoop
    self.events = events
  }

  func send(_ bytes: [UInt8]) {
    guard let channel = state.withLock({ $0.isOpen ? $0.channel : nil }) else { return }
    eventLoop.execute {
      // Whole messages are dropped, so the stream stays readable.
      guard channel.isWritable else { return }
      channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }
  }

  func close() {
    let channel = state.withLock { state in
      state.isEnded = true
      state.isOpen = false
      return state.channel
    }
    // Behind what was queued before.
    eventLoop.execute { channel?.close(promise: nil) }
  }

  /// Takes the channel; false where the connection was closed meanwhile.
  func attach(_ channel: any Channel) -> Bool {
    state.withLock { state in
      guard !state.isEnded else { return false }
      state.channel = channel
      return true
    }
  }

  // MARK: Of the handler, on the event loop

  func opened() {
    let isFirst = state.withLock { state in
      guard !state.isEnded, !state.isOpen else { return false }
      state.isOpen = true
      return true
    }
    if isFirst { events(.opened) }
  }

  func received(_ bytes: [UInt8]) {
    if state.withLock({ !$0.isEnded }) { events(.received(bytes)) }
  }

  func end(_ reason: String) {
    let (isFirst, channel) = state.withLock { state in
      defer {
        state.isEnded = true
        state.isOpen = false
      }
      return (!state.isEnded, state.channel)
    }
    channel?.close(promise: nil)
    if isFirst { events(.ended(reason: reason)) }
  }

  func endUnlessOpen(_ reason: String) {
    if state.withLock({ !$0.isOpen }) { end(reason) }
  }
}

/// Carries bytes between a channel and its connection.
final class TURNStreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: TURNStreamConnection
  private let waitsForTLS: Bool

  init(_ connection: TURNStreamConnection, waitsForTLS: Bool) {
    self.connection = connection
    self.waitsForTLS = waitsForTLS
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if !waitsForTLS { connection.opened() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { connection.opened() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.received(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.end("the other side closed it")
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    connection.end(StreamErrors.text(error))
  }
}
