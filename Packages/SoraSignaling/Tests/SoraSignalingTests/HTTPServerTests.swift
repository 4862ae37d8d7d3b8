import SignalingTestSupport
import SoraSignaling
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPServerTests {
  private func text(_ client: RawClient, until end: String) async -> String {
    // As bytes: to a String "\r\n" is one character, which doesn't end in "\n".
    let bytes = await client.wait { $0.suffix(end.utf8.count) == Array(end.utf8)[...] }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func answersSeveralRequestsOfOneConnection() async throws {
    let server = try await startServer(
      http: { request in
        HTTPResponse(
          status: 200,
          text: "\(request.method) \(request.path) \(request.query ?? "-") "
            + String(decoding: request.body, as: UTF8.self) + ".")
      }, serve: { _ = await drain($0) })
    let client = try await RawClient(port: server.boundPort)
    // Pipelined; the second one in chunks.
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    client.send(
      "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    let both = await text(client, until: "abc.")
    #expect(both.contains("GET / - ."))
    #expect(both.contains("POST /a b=c abc."))
    #expect(both.contains("Content-Length: 9"))
    client.close()
    await server.stop()
  }

  @Test func headHasNoBody() async throws {
    let server = try await startServer(http: { _ in HTTPResponse(text: "hello") }) { _ in }
    let client = try await RawClient(port: server.boundPort)
    client.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await client.closed.wait(for: 1)
    let response = String(decoding: client.bytes, as: UTF8.self)
    #expect(response.hasPrefix("HTTP/1.1 200 OK") && response.hasSuffix("\r\n\r\n"))
    #expect(response.contains("Content-Length: 5"))
    await server.stop()
  }

  /// RFC 9112 §3.2.2: as clients of proxies write it.
  @Test(arguments: [
    ("http://a.example:80/p/q?r=s", "/p/q r=s."), ("HTTPS://a.example", "/ -."),
    ("http://a.example?r", "/ r."), ("/p?u=http://b.example/c", "/p u=http://b.example/c."),
    ("*", "* -."),
  ])
  func aWholeURLIsAsGoodAsItsPath(target: String, seen: String) async throws {
    let server = try await startServer(
      http: { HTTPResponse(text: "\($0.path) \($0.query ?? "-").") }
    ) { _ in }
    let client = try await RawClient(port: server.boundPort)
    client.send("OPTIONS \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await client.closed.wait(for: 1)
    #expect(String(decoding: client.bytes, as: UTF8.self).hasSuffix("\r\n\r\n\(seen)"))
    await server.stop()
  }

  @Test func upgradesToOtherProtocolsAreAnsweredAsHTTP() async throws {
    let server = try await startServer(http: { HTTPResponse(text: "page \($0.path)") }) { _ in }
    let client = try await RawClient(port: server.boundPort)
    client.send("GET /p HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
    await client.closed.wait(for: 1)
    #expect(String(decoding: client.bytes, as: UTF8.self).hasSuffix("page /p"))
    await server.stop()
  }

  @Test(arguments: [
    ("GET /signaling HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
    (
      "GET /signaling HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
      "400"
    ),
    (
      "GET /signaling HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n", "426"
    ),
    (
      "POST /signaling HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 0\r\n\r\n", "400"
    ),
    ("NONSENSE\r\n\r\n", "400"),
  ])
  func refusals(request: String, status: String) async throws {
    let server = try await startServer { _ in }
    let client = try await RawClient(port: server.boundPort)
    client.send(request)
    let text = await text(client, until: "\n")
    #expect(text.hasPrefix("HTTP/1.1 \(status) "))
    client.close()
    await server.stop()
  }

  @Test func bodiesAreBounded() async throws {
    let server = try await startServer(http: { _ in HTTPResponse(text: "ok") }) { _ in }
    let client = try await RawClient(port: server.boundPort)
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n")
    client.send([UInt8](repeating: 0x61, count: 1_200_000))
    let text = await text(client, until: "\n")
    #expect(text.hasPrefix("HTTP/1.1 413 "))
    await client.closed.wait(for: 1)
    await server.stop()
  }

  /// Many clients read nothing before they have sent all: closing over what they still send would break that off, and may take the
  /// answer from them.
  @Test func whoSendsTooMuchBeforeItReadsIsToldSo() async throws {
    let server = try await startServer(http: { _ in HTTPResponse(text: "ok") }) { _ in }
    let client = try await RawClient(port: server.boundPort, goesOn: true)
    // More than the buffers of two sockets hold.
    let count = 32 << 20
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n")
    try await client.sendAll([UInt8](repeating: 0x61, count: count))
    let text = await text(client, until: "at most 1 MiB\n")
    client.close()
    #expect(text.hasPrefix("HTTP/1.1 413 ") && text.hasSuffix("at most 1 MiB\n"))
    await server.stop()
  }

  /// RFC 9110 §10.1.1: who asks whether to send its body is told.
  @Test func whoAsksBeforeItSendsItsBodyIsAnswered() async throws {
    let server = try await startServer(
      http: { HTTPResponse(text: "got \(String(decoding: $0.body, as: UTF8.self)).") }
    ) { _ in }
    let client = try await RawClient(port: server.boundPort)
    let head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
    for body in ["abc", "de"] {
      client.send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n")
      let before = await text(client, until: "HTTP/1.1 100 Continue\r\n\r\n")
      #expect(before.hasSuffix("HTTP/1.1 100 Continue\r\n\r\n"))
      client.send(body)
      let after = await text(client, until: "got \(body).")
      #expect(after.hasSuffix("\r\n\r\ngot \(body)."))
    }
    // What wouldn't be taken needn't be sent.
    client.send("\(head)Content-Length: 2000000\r\n\r\n")
    await client.closed.wait(for: 1)
    let text = String(decoding: client.bytes, as: UTF8.self)
    #expect(text.ranges(of: "100 Continue").count == 2)
    #expect(text.ranges(of: "HTTP/1.1 413 ").count == 1 && text.hasSuffix("at most 1 MiB\n"))
    await server.stop()
  }

  @Test func whoDoesNotReadItsResponseIsDropped() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.requestTimeout = .milliseconds(500)
    configuration.maximumConnections = 1
    // More than the buffers of two sockets hold.
    let large = [UInt8](repeating: 0x61, count: 32 << 20)
    let server = try await startServer(
      configuration: configuration,
      http: { $0.path == "/large" ? HTTPResponse(body: large) : HTTPResponse(text: "small") },
      serve: { _ in })
    let slow = try await RawClient(port: server.boundPort, reads: false)
    slow.send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    // There is room for one: others are turned away until it has gone.
    var answer = ""
    while !answer.hasPrefix("HTTP/1.1 200") {
      let other = try await RawClient(port: server.boundPort)
      other.send("GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      await other.closed.wait(for: 1)
      answer = String(decoding: other.bytes, as: UTF8.self)
    }
    slow.close()
    await server.stop()
  }

  @Test(arguments: ["", "GET / HT", "GET /signaling HTTP/1.1\r\nUpgrade: websocket\r\n"])
  func slowRequestsAreDropped(beginning: String) async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.requestTimeout = .milliseconds(50)
    let server = try await startServer(configuration: configuration) { _ in }
    let client = try await RawClient(port: server.boundPort)
    if !beginning.isEmpty { client.send(beginning) }
    await client.closed.wait(for: 1)
    await server.stop()
  }

  @Test func openWebSocketsOutliveTheRequestTimeout() async throws {
    // On a busy machine the handshake itself may take longer than a short limit.
    for limit in [0.1, 2, 20] {
      var configuration = SignalingServer.Configuration.patient
      configuration.requestTimeout = .seconds(limit)
      let server = try await startServer(configuration: configuration, serve: echo)
      let connection = try? await WebSocketClient.connect(url: server.url)
      // A second client that says nothing is dropped after the same time.
      let idle = try await RawClient(port: server.boundPort)
      await idle.closed.wait(for: 1)
      connection?.send(text: "still here")
      var messages = connection?.messages.makeAsyncIterator()
      let event = await messages?.next()
      connection?.close()
      await server.stop()
      if connection == nil, limit < 20 { continue }
      #expect(event == .text("still here"))
      break
    }
  }

  @Test func tooManyConnectionsAreTurnedAway() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.maximumConnections = 1
    let server = try await startServer(configuration: configuration, serve: echo)
    let connection = try await WebSocketClient.connect(url: server.url)
    let error = await errorOf { _ = try await WebSocketClient.connect(url: server.url) }
    #expect(error?.code == .connectionLost)
    connection.close()
    await server.stop()
  }

  /// Who opens sockets and says nothing leaves room for others, and for its own WebSockets once some have gone.
  @Test func idleSocketsOfOneClientAreBounded() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.maximumPendingSockets = 2
    let server = try await startServer(host: "::", configuration: configuration, serve: echo)
    // Each WebSocket makes room for the next socket, once the server has it: a client hears of it a moment before.
    let first = try await WebSocketClient.connect(url: server.url)
    let second = try await WebSocketClient.connect(url: server.url)
    for connection in [first, second] {
      connection.send(text: "served")
      var messages = connection.messages.makeAsyncIterator()
      #expect(await messages.next() == .text("served"))
    }
    // The server takes them on several threads: which of the three is one too many is chance.
    var idle: [RawClient] = []
    for _ in 0..<3 { idle.append(try await RawClient(port: server.boundPort)) }
    while idle.allSatisfy({ $0.closed.elements.isEmpty }) {
      try await Task.sleep(for: .milliseconds(5))
    }
    idle.removeAll { !$0.closed.elements.isEmpty }
    #expect(idle.count == 2)
    // From elsewhere.
    let url = "ws://[::1]:\(server.boundPort)/signaling"
    let other = try await WebSocketClient.connect(url: url)
    other.close()
    idle[0].close()
    while (try? await WebSocketClient.connect(url: server.url).close()) == nil {}
    idle[1].close()
    first.close()
    second.close()
    await server.stop()
  }

  @Test func portInUseIsATypedError() async throws {
    let server = try await startServer { _ in }
    let error = await errorOf {
      _ = try await SignalingServer.start(port: server.boundPort) { _ in }
    }
    #expect(error?.stage == .listen && error?.code == .listenFailed)
    await server.stop()
  }
}
