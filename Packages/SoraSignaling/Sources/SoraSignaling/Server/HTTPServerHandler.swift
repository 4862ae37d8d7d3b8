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

/// Collects requests and has them answered, or turns the connection into a WebSocket.
final class HTTPServerHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = HTTPServerResponsePart

  static let maximumBodySize = 1 << 20

  private enum State {
    case idle
    case collecting(HTTPRequestHead)
    /// The rest of a request whose early answer is sent by then.
    case discarding(EventLoopFuture<Void>)
    /// Bytes of the WebSocket that come before its handlers are in place.
    case upgrading([NIOAny])
    case upgraded
  }

  private let path: String
  private let respond: @Sendable (HTTPRequest) async -> HTTPResponse
  private let deadline: NIOLoopBound<RequestDeadline>
  private let codec: HTTPServerCodec
  /// Adds the WebSocket's handlers at the end of the pipeline.
  private let open: (any Channel, HTTPRequest) throws -> Void
  private var state = State.idle
  private var body: [UInt8] = []
  private var task: Task<Void, Never>?

  init(
    path: String, codec: HTTPServerCodec, deadline: NIOLoopBound<RequestDeadline>,
    respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    open: @escaping (any Channel, HTTPRequest) throws -> Void
  ) {
    self.path = path
    self.codec = codec
    self.deadline = deadline
    self.respond = respond
    self.open = open
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .upgrading(var early):
      early.append(data)
      state = .upgrading(early)
    case .upgraded: context.fireChannelRead(data)
    default: received(context, unwrapInboundIn(data))
    }
  }

  private func received(_ context: ChannelHandlerContext, _ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head):
      body = []
      state = .collecting(head)
      if head.version == .http1_1, head.headers[canonicalForm: "expect"].contains("100-continue") {
        answerExpectation(context, head)
      }
    case .body(let part):
      guard case .collecting = state else { return }
      guard body.count + part.readableBytes <= Self.maximumBodySize else {
        return refuseBody(context)
      }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      if case .discarding(let sent) = state {
        return sent.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
      }
      guard case .collecting(let head) = state else { return }
      state = .idle
      deadline.value.stop()
      let request = HTTPRequest(head, body: body, remoteAddress: context.channel.remoteAddress)
      body = []
      answer(context, head, request)
    }
  }

  /// RFC 9110 §10.1.1: the client waits with the body until it hears that it is wanted.
  private func answerExpectation(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
    let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    guard length <= Self.maximumBodySize else { return refuseBody(context) }
    let go = WireResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(go)), promise: nil)
  }

  /// RFC 9112 §9.6: the answer would be lost if the connection were closed over what still comes. So only our end of it is, until the
  /// client has ended its own or its time is over.
  private func refuseBody(_ context: ChannelHandlerContext) {
    body = []
    deadline.value.start()
    let channel = context.channel
    let sent = HTTPResponseWriter.write(
      HTTPResponse(status: 413, text: "at most 1 MiB\n"), to: channel, version: .http1_1,
      isHead: false, connection: "close")
    state = .discarding(sent)
    sent.whenComplete { _ in channel.close(mode: .output, promise: nil) }
  }

  private func answer(
    _ context: ChannelHandlerContext, _ head: HTTPRequestHead, _ request: HTTPRequest
  ) {
    let wantsUpgrade = request.headers["Upgrade"] != nil
    var early: HTTPResponse?
    if wantsUpgrade, request.path == path {
      switch ServerHandshake.check(request) {
      case .accept(let headers): return upgrade(context, request, headers)
      case .refuse(let response): early = response
      }
    }
    let channel = context.channel
    let loop = context.eventLoop
    // After a request with Upgrade the decoder reads no further one.
    let keepAlive = head.isKeepAlive && !wantsUpgrade && head.method != .CONNECT
    let (version, isHead) = (head.version, head.method == .HEAD)
    task = Task { [respond, deadline, early] in
      let response: HTTPResponse
      if let early { response = early } else { response = await respond(request) }
      loop.execute {
        // For the response as well: who doesn't read it doesn't keep it here.
        deadline.value.start()
        HTTPResponseWriter.write(
          response, to: channel, version: version, isHead: isHead,
          connection: keepAlive ? "keep-alive" : "close"
        ).whenComplete { result in
          if case .failure = result { return channel.close(promise: nil) }
          if !keepAlive { channel.close(promise: nil) }
        }
      }
    }
  }

  /// Takes the HTTP handlers out, says 101, and puts the WebSocket's in.
  private func upgrade(
    _ context: ChannelHandlerContext, _ request: HTTPRequest, _ headers: HeaderFields
  ) {
    state = .upgrading([])
    let pipeline = context.pipeline
    let removals = codec.inbound.map { pipeline.syncOperations.removeHandler($0) }
    EventLoopFuture.andAllSucceed(removals, on: context.eventLoop)
      .assumeIsolated()
      .flatMap { () -> EventLoopFuture<Void> in
        let head = HTTPServerResponsePart.head(
          WireResponseHead(
            version: .http1_1, status: .switchingProtocols,
            headers: HTTPHeaders(headers.fields.map { ($0.name, $0.value) })))
        context.writeAndFlush(self.wrapOutboundOut(head), promise: nil)
        return pipeline.syncOperations.removeHandler(self.codec.encoder)
      }
      .whenComplete { result in
        do {
          try result.get()
          try self.open(context.channel, request)
        } catch {
          return context.close(promise: nil)
        }
        guard case .upgrading(let early) = self.state else { return }
        self.state = .upgraded
        for data in early { context.fireChannelRead(data) }
        if !early.isEmpty { context.fireChannelReadComplete() }
        pipeline.syncOperations.removeHandler(self, promise: nil)
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

/// The handlers that read and write HTTP, kept to be taken out again.
struct HTTPServerCodec {
  let encoder = HTTPResponseEncoder()
  /// In the order of the pipeline, after the encoder.
  let inbound: [any RemovableChannelHandler] = [
    ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)),
    HTTPServerPipelineHandler(), NIOHTTPResponseHeadersValidator(),
    HTTPServerProtocolErrorHandler(),
  ]
}

/// The server's side of the opening handshake (RFC 6455 §4.2).
enum ServerHandshake {
  enum Outcome {
    case accept(HeaderFields)
    case refuse(HTTPResponse)
  }

  static func check(_ request: HTTPRequest) -> Outcome {
    let headers = request.headers
    guard request.method == "GET", headers.contains("websocket", in: "Upgrade"),
      headers.contains("upgrade", in: "Connection"),
      // 16 bytes in Base64.
      let key = headers["Sec-WebSocket-Key"], key.utf8.count == 24
    else {
      return .refuse(HTTPResponse(status: 400, text: "not a WebSocket handshake\n"))
    }
    guard headers["Sec-WebSocket-Version"] == "13" else {
      // §4.2.2
      var response = HTTPResponse(status: 426, text: "WebSocket version 13 is needed\n")
      response.headers["Sec-WebSocket-Version"] = "13"
      return .refuse(response)
    }
    return .accept([
      "Upgrade": "websocket", "Connection": "Upgrade",
      "Sec-WebSocket-Accept": ClientHandshakeHandler.accept(for: key),
    ])
  }
}

private enum HTTPResponseWriter {
  /// - Parameter connection: the field of that name.
  static func write(
    _ response: HTTPResponse, to channel: any Channel, version: HTTPVersion, isHead: Bool,
    connection: String
  ) -> EventLoopFuture<Void> {
    var headers = HTTPHeaders()
    for field in response.headers.fields { headers.add(name: field.name, value: field.value) }
    headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count))
    headers.replaceOrAdd(name: "Connection", value: connection)
    let head = WireResponseHead(
      version: version, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if !isHead, !response.body.isEmpty {
      let body = IOData.byteBuffer(ByteBuffer(bytes: response.body))
      channel.write(HTTPServerResponsePart.body(body), promise: nil)
    }
    return channel.writeAndFlush(HTTPServerResponsePart.end(nil))
  }
}

/// Ours of the same name is the client's.
private typealias WireResponseHead = NIOHTTP1.HTTPResponseHead

extension HTTPRequest {
  init(_ head: HTTPRequestHead, body: [UInt8], remoteAddress: SocketAddress?) {
    let parts = Self.origin(of: head.uri)
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first ?? ""
    self.init(
      method: head.method.rawValue, path: path.isEmpty ? "/" : String(path),
      query: parts.count > 1 ? String(parts[1]) : nil,
      headers: HeaderFields(head.headers.map { .init(name: $0.name, value: $0.value) }),
      body: body, remoteAddress: remoteAddress.map { "\($0)" } ?? "unknown",
      remoteIP: remoteAddress?.ipAddress)
  }

  /// A target as it is without scheme and host (RFC 9112 §3.2.2), which clients write that take us for a proxy.
  private static func origin(of target: String) -> Substring {
    for scheme in ["http://", "https://"] where target.prefix(8).lowercased().hasPrefix(scheme) {
      return target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
    }
    return target[...]
  }
}
