import NIOCore
import NIOHTTP1

/// Closes a client that takes too long to say what it wants.
///
/// Confined to the event loop of its channel.
final class RequestDeadline {
  private let channel: any Channel
  private let limit: TimeAmount
  private var task: Scheduled<Void>?

  init(channel: any Channel, limit: TimeAmount) {
    self.channel = channel
    self.limit = limit
  }

  func start() {
    task?.cancel()
    task = channel.eventLoop.scheduleTask(in: limit) { [channel] in channel.close(promise: nil) }
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}

/// Collects requests that are no WebSocket handshakes, and answers them.
final class HTTPServerHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  static let maximumBodySize = 1 << 20

  private let respond: @Sendable (HTTPRequest) async -> HTTPResponse
  private let deadline: NIOLoopBound<RequestDeadline>
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  private var task: Task<Void, Never>?

  init(
    respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    deadline: NIOLoopBound<RequestDeadline>
  ) {
    self.respond = respond
    self.deadline = deadline
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      body = []
    case .body(let part):
      guard head != nil else { return }
      guard body.count + part.readableBytes <= Self.maximumBodySize else {
        head = nil
        deadline.value.stop()
        let response = HTTPResponse(status: 413, text: "at most 1 MiB\n")
        return HTTPResponseWriter.write(
          response, to: context.channel, version: .http1_1, isHead: false, keepAlive: false)
      }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      guard let head else { return }
      self.head = nil
      deadline.value.stop()
      answer(context, head)
    }
  }

  private func answer(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
    let request = HTTPRequest(head, body: body, remoteAddress: context.channel.remoteAddress)
    body = []
    let channel = context.channel
    let loop = context.eventLoop
    let keepAlive = head.isKeepAlive
    let (version, isHead) = (head.version, head.method == .HEAD)
    task = Task { [respond, deadline] in
      let response = await respond(request)
      loop.execute {
        if keepAlive { deadline.value.start() }
        HTTPResponseWriter.write(
          response, to: channel, version: version, isHead: isHead, keepAlive: keepAlive)
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    task?.cancel()
    deadline.value.stop()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A malformed request was answered by the codec's own handler.
    context.close(promise: nil)
  }
}

private enum HTTPResponseWriter {
  static func write(
    _ response: HTTPResponse, to channel: any Channel, version: HTTPVersion, isHead: Bool,
    keepAlive: Bool
  ) {
    var headers = HTTPHeaders()
    for field in response.headers.fields { headers.add(name: field.name, value: field.value) }
    headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count))
    headers.replaceOrAdd(name: "Connection", value: keepAlive ? "keep-alive" : "close")
    let head = WireResponseHead(
      version: version, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if !isHead, !response.body.isEmpty {
      let body = IOData.byteBuffer(ByteBuffer(bytes: response.body))
      channel.write(HTTPServerResponsePart.body(body), promise: nil)
    }
    let end = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
    end.whenComplete { result in
      if case .failure = result { return channel.close(promise: nil) }
      if !keepAlive { channel.close(promise: nil) }
    }
  }
}

/// Ours of the same name is the client's.
private typealias WireResponseHead = NIOHTTP1.HTTPResponseHead

extension HTTPRequest {
  init(_ head: HTTPRequestHead, body: [UInt8], remoteAddress: SocketAddress?) {
    let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      method: head.method.rawValue, path: String(parts.first ?? ""),
      query: parts.count > 1 ? String(parts[1]) : nil,
      headers: HeaderFields(head.headers.map { .init(name: $0.name, value: $0.value) }),
      body: body, remoteAddress: remoteAddress.map { "\($0)" } ?? "unknown")
  }
}
