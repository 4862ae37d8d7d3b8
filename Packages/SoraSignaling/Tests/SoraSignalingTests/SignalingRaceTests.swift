import SignalingTestSupport
import SoraSignaling
import Testing

/// Several URLs, and redirects.
@Suite(.timeLimit(.minutes(5))) struct SignalingRaceTests {
  private func accept(_ connection: WebSocketConnection) async {
    connection.send(offer())
    _ = await drain(connection)
  }

  @Test func firstOpenOneWins() async throws {
    let server = try await startServer(serve: accept)
    let silent = try await RawServer { _ in [] }
    let dead = "ws://127.0.0.1:\(try unusedPort())/signaling"
    let client = SignalingClient(
      configuration: configuration([silent.url, dead, server.url, "nonsense", silent.url]))
    _ = try await client.connect()
    #expect(client.contactURL == server.url && client.connectedURL == server.url)
    // The one that never answered is dropped.
    await silent.closed.wait(for: 1)
    client.close()
    await server.stop()
    await silent.stop()
  }

  @Test func duplicatesAreOpenedOnceAndLosersEnd() async throws {
    let opened = Recorder<String>()
    let closes = Recorder<WebSocketClose?>()
    let serve: @Sendable (WebSocketConnection) async -> Void = { connection in
      var messages = connection.messages.makeAsyncIterator()
      guard await readConnect(&messages) != nil else {
        closes.append(connection.closed)
        return
      }
      opened.append("connect")
      connection.send(offer())
      _ = await drain(connection)
    }
    let first = try await startServer(serve: serve)
    let second = try await startServer(serve: serve)
    let client = SignalingClient(
      configuration: configuration([first.url, second.url, first.url, second.url]))
    _ = try await client.connect()
    client.close()
    await first.stop()
    await second.stop()
    // However the race went, one `connect` was sent.
    #expect(opened.elements.count == 1)
    #expect(closes.elements.count <= 1)
  }

  @Test func allFailingTellsTheFurthestAndEachReason() async throws {
    let server = try await startServer { _ = await drain($0) }
    let dead = "ws://127.0.0.1:\(try unusedPort())/signaling"
    let wrong = "ws://127.0.0.1:\(server.boundPort)/wrong"
    let client = SignalingClient(configuration: configuration([wrong, "http://x", dead]))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.stage == .upgrade && error?.code == .unexpectedStatus(404))
    #expect(error?.url == wrong)
    #expect(
      error?.candidates.map(\.code) == [.unexpectedStatus(404), .invalidURL, .refused])
    #expect(error?.candidates.map(\.url) == [wrong, "http://x", dead])
    #expect(error?.description.contains("nothing listens there") == true)
    await server.stop()
  }

  @Test func noURLAtAll() async {
    let client = SignalingClient(configuration: configuration([]))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.code == .invalidConfiguration && error?.field == "urls")
  }

  @Test(arguments: [SignalingRole.sendonly, .recvonly])
  func redirectIsFollowedAndSaid(role: SignalingRole) async throws {
    let connects = Recorder<ConnectMessage?>()
    let target = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(offer("B"))
      _ = await drain(connection)
    }
    let closes = Recorder<WebSocketClose?>()
    let entry = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(.redirect(RedirectMessage(location: target.url)))
      closes.append(await drain(connection))
    }
    var configuration = configuration([entry.url])
    configuration.connect.role = role
    let client = SignalingClient(configuration: configuration)
    #expect(try await client.connect().connectionID == "B")
    #expect(client.contactURL == entry.url && client.connectedURL == target.url)
    #expect(connects.elements.map { $0?.redirect } == [nil, true])
    #expect(connects.elements.map { $0?.role } == [role, role])
    await closes.wait(for: 1)
    #expect(closes.elements.first??.code == .normal)
    client.close()
    var events: [SignalingClient.Event] = []
    for await event in client.events { events.append(event) }
    #expect(
      events.prefix(3) == [
        .opened(url: entry.url), .redirected(location: target.url), .opened(url: target.url),
      ])
    await entry.stop()
    await target.stop()
  }

  @Test func serverMayCloseRightAfterTheRedirect() async throws {
    let target = try await startServer(serve: accept)
    let entry = try await startServer { connection in
      connection.send(.redirect(RedirectMessage(location: target.url)))
      connection.close()
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([entry.url]))
    _ = try await client.connect()
    #expect(client.connectedURL == target.url)
    client.close()
    await entry.stop()
    await target.stop()
  }

  @Test func circlesEnd() async throws {
    let visits = Recorder<Void>()
    let server = try await startServer { connection in
      visits.append(())
      let host = connection.request?.headers["Host"] ?? ""
      connection.send(.redirect(RedirectMessage(location: "ws://\(host)/signaling")))
      _ = await drain(connection)
    }
    var configuration = configuration([server.url])
    configuration.maximumRedirects = 3
    let client = SignalingClient(configuration: configuration)
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.stage == .redirect && error?.code == .tooManyRedirects)
    #expect(visits.elements.count == 4)
    await server.stop()
  }

  @Test(arguments: ["http://elsewhere/", "", "wss://"])
  func badLocationIsATypedError(location: String) async throws {
    let server = try await startServer { connection in
      connection.send(.redirect(RedirectMessage(location: location)))
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.stage == .redirect && error?.code == .invalidURL)
    await server.stop()
  }
}
