import NIOCore

/// Asks a SOCKS 5 proxy for a way, and then makes place for what goes through it.
final class SOCKS5Handler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var handshake: SOCKS5Handshake
  private let fail: (any Error) -> Void
  private let next: (any Channel) throws -> Void
  private var isDone = false

  init(
    _ handshake: SOCKS5Handshake, fail: @escaping (any Error) -> Void,
    next: @escaping (any Channel) throws -> Void
  ) {
    self.handshake = handshake
    self.fail = fail
    self.next = next
  }

  func handlerAdded(context: ChannelHandlerContext) { send(handshake.greeting, context) }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return context.fireChannelRead(data) }
    do {
      switch try handshake.receive(unwrapInboundIn(data).readableBytesView) {
      case .wait: break
      case .send(let bytes): send(bytes, context)
      case .open(let rest):
        isDone = true
        try next(context.channel)
        if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
      }
    } catch {
      isDone = true
      fail(error)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone { fail(ConnectErrors.ended(.proxy)) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }
}
