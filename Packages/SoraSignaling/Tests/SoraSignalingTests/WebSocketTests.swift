import SignalingTestSupport
import SoraSignaling
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketTests {
  @Test func carriesMessagesBothWaysInOrder() async throws {
    let server = try await startServer(serve: echo)
    let connection = try await WebSocketClient.connect(url: server.url)
    let texts = (0..<200).map { "message \($0) é" }
    for text in texts { #expect(connection.send(text: text)) }
    connection.send(binary: [0, 1, 255])
    let large = String(repeating: "x", count: 1 << 20)
    #expect(connection.send(text: large))
    #expect(!connection.send(text: large + "y"))
    var received: [WebSocketConnection.Event] = []
    for await event in connection.messages {
      received.append(event)
      if received.count == 202 { break }
    }
    #expect(received == texts.map { .text($0) } + [.binary([0, 1, 255]), .text(large)])
    connection.close()
    #expect(await drain(connection)?.code == .normal)
    #expect(!connection.send(text: "late"))
    await server.stop()
  }

  @Test(arguments: [
    (WebSocketCloseCode.normal, "TYPE-DISCONNECT"), (.signalingError, "理由: refused"),
    (4000, ""), (.goingAway, "bye"),
  ])
  func closeCodeAndReasonArriveOnce(code: WebSocketCloseCode, reason: String) async throws {
    let atServer = Recorder<WebSocketClose?>()
    var configuration = SignalingServer.Configuration.patient
    configuration.closeTimeout = .seconds(50)
    let server = try await startServer(configuration: configuration) { connection in
      connection.send(text: "last words")
      connection.close(code: code, reason: reason)
      connection.close(code: .internalError, reason: "too late")
      atServer.append(await drain(connection))
    }
    let connection = try await WebSocketClient.connect(url: server.url)
    var events: [WebSocketConnection.Event] = []
    for await event in connection.messages { events.append(event) }
    #expect(
      events == [.text("last words"), .closed(WebSocketClose(code: code, reason: reason))])
    #expect(connection.closed?.code == code)
    await atServer.wait(for: 1)
    #expect(atServer.elements.first??.code == code)
    await server.stop()
  }

  @Test func clientsCloseReachesTheServer() async throws {
    let closes = Recorder<WebSocketClose?>()
    let server = try await startServer { closes.append(await drain($0)) }
    var options = WebSocketOptions()
    options.closeTimeout = .seconds(50)
    let connection = try await WebSocketClient.connect(url: server.url, options: options)
    // 210 bytes of three-byte characters: cut to 41 of them, never inside of one.
    connection.close(code: 3000, reason: String(repeating: "あ", count: 70))
    await closes.wait(for: 1)
    #expect(
      closes.elements.first
        == WebSocketClose(code: 3000, reason: String(repeating: "あ", count: 41)))
    #expect(await drain(connection)?.code == 3000)
    await server.stop()
  }

  @Test func codesThatMustNotBeSentBecomeNormal() async throws {
    let closes = Recorder<WebSocketClose?>()
    let server = try await startServer { closes.append(await drain($0)) }
    for code in [1005, 1006, 1015, 0, 999, 5000] as [WebSocketCloseCode] {
      try await WebSocketClient.connect(url: server.url).close(code: code)
    }
    await closes.wait(for: 6)
    #expect(closes.elements.allSatisfy { $0?.code == .normal })
    await server.stop()
  }

  @Test func requestShowsWhoAsks() async throws {
    let requests = Recorder<HTTPRequest?>()
    let server = try await startServer { requests.append($0.request) }
    var options = WebSocketOptions()
    options.userAgent = "Tester/1.0"
    let connection = try await WebSocketClient.connect(url: server.url + "?a=b", options: options)
    await requests.wait(for: 1)
    let request = try #require(requests.elements.first ?? nil)
    #expect(request.path == "/signaling" && request.query == "a=b")
    #expect(request.headers["user-agent"] == "Tester/1.0")
    #expect(request.headers["Sec-WebSocket-Protocol"] == nil)
    #expect(request.headers["Sec-WebSocket-Extensions"] == nil)
    connection.close()
    await server.stop()
  }

  @Test func stoppingTheServerSaysGoingAway() async throws {
    // An address of this host that no other test uses, so that nobody takes the port afterwards.
    let server = try await SignalingServer.start(host: "127.0.0.78") { connection in
      Task { await drain(connection) }
    }
    let url = "ws://127.0.0.78:\(server.boundPort)/signaling"
    let connection = try await WebSocketClient.connect(url: url)
    async let close = drain(connection)
    await server.stop()
    #expect(await close?.code == .goingAway)
    #expect(await errorOf { _ = try await WebSocketClient.connect(url: url) }?.code == .refused)
  }

  @Test func readerThatFallsBehindHoldsTheSenderBack() async throws {
    // 12 MiB are more than the reader's high water and less than what the sender may queue.
    let block = String(repeating: "z", count: 1 << 20)
    let server = try await startServer { connection in
      for _ in 0..<12 { connection.send(text: block) }
      _ = await drain(connection)
    }
    let connection = try await WebSocketClient.connect(url: server.url)
    var count = 0
    for await case .text(let text) in connection.messages {
      #expect(text.utf8.count == block.utf8.count)
      count += 1
      if count == 12 { break }
    }
    #expect(count == 12)
    connection.close()
    await server.stop()
  }

  @Test func whoReadsNothingIsDroppedAtTheServersLimit() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.maximumUnsentBytes = 2 << 20
    let queued = Recorder<Int>()
    let block = String(repeating: "z", count: 1 << 20)
    let server = try await startServer(configuration: configuration) { connection in
      var count = 0
      while count < 100, connection.send(text: block) { count += 1 }
      queued.append(count)
      _ = await drain(connection)
    }
    let connection = try await WebSocketClient.connect(url: server.url)
    await queued.wait(for: 1)
    // Two wait, and what the sockets and the reader hold is beyond them.
    let count = try #require(queued.elements.first)
    #expect((2..<50).contains(count))
    #expect(await drain(connection)?.code == .abnormal)
    await server.stop()
  }

  @Test func cancelledReaderGetsNil() async throws {
    let server = try await startServer(serve: echo)
    let connection = try await WebSocketClient.connect(url: server.url)
    let reader = Task { await drain(connection) }
    reader.cancel()
    #expect(await reader.value == nil)
    connection.close()
    await server.stop()
  }
}
