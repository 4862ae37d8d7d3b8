import Foundation
import NIOCore
import NIOPosix

/// Opens a WebSocket over a pair of sockets of which this process has both ends, says `connect`, and reads an offer. Swift's runtime takes
/// ten times as long for a type that it meets first; the first connection then doesn't have to wait for that.
enum WebSocketRehearsal {
  static func run(_ connect: ConnectMessage, offer: String) async -> OfferMessage? {
    var ends: [CInt] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0,
      let endpoint = try? WebSocketEndpoint("ws://localhost/signaling")
    else { return nil }
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ClientBootstrap(group: eventLoop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(RehearsedServer(offer: offer))
      }
    }.withConnectedSocket(ends[1]).whenComplete { _ in }
    let attempt = WebSocketConnectAttempt(endpoint: endpoint, options: WebSocketOptions())
    attempt.startDeadline(on: eventLoop)
    ClientBootstrap(group: eventLoop).withConnectedSocket(ends[0]).whenComplete { result in
      switch result {
      case .failure: attempt.fail(.cancelled)
      case .success(let channel):
        guard attempt.attach(channel) else { return channel.close(promise: nil) }
        WebSocketClient.begin(channel, attempt, nil)
      }
    }
    guard let connection = try? await attempt.connection() else { return nil }
    defer { connection.abort() }
    connection.send(.connect(connect))
    for await event in connection.messages {
      guard case .text(let text) = event,
        case .offer(let offer)? = try? SignalingMessage(parsing: text)
      else { continue }
      connection.send(.answer(AnswerMessage(sdp: "")))
      connection.send(.candidate(CandidateMessage(candidate: "")))
      return offer
    }
    return nil
  }
}

/// The other end: answers the handshake, sends an offer, and hears no more.
private final class RehearsedServer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let offer: String
  private var isOpen = false

  init(offer: String) { self.offer = offer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOpen else { return }
    isOpen = true
    let request = String(buffer: unwrapInboundIn(data))
    let key = request.split(separator: "\r\n").lazy
      .compactMap { $0.hasPrefix("Sec-WebSocket-Key: ") ? String($0.dropFirst(19)) : nil }.first
    let response = """
      HTTP/1.1 101 Switching Protocols\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Accept: \(ClientHandshakeHandler.accept(for: key ?? ""))\r
      \r

      """
    var answer = ByteBuffer(string: response)
    // RFC 6455 §5.2: one text frame, unmasked, with a length of 16 bits.
    answer.writeBytes([0x81, 126])
    answer.writeInteger(UInt16(clamping: offer.utf8.count))
    answer.writeString(offer)
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
  }
}
