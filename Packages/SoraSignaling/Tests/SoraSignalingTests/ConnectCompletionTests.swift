import SignalingTestSupport
import SoraSignaling
import Testing

/// What `connect` says is found out while the WebSocket opens.
@Suite(.timeLimit(.minutes(5))) struct ConnectCompletionTests {
  /// Neither waits for the other: the completion goes on until the server has the WebSocket.
  @Test func itRunsBesideTheOpening() async throws {
    let opened = Recorder<Void>()
    let connects = Recorder<ConnectMessage?>()
    let server = try await startServer { connection in
      opened.append(())
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(offer())
      _ = await drain(connection)
    }
    var configuration = configuration([server.url])
    configuration.completeConnect = { connect in
      await opened.wait(for: 1)
      connect.sdp = "v=0"
    }
    let client = SignalingClient(configuration: configuration)
    _ = try await client.connect()
    #expect(connects.elements.map { $0?.sdp } == ["v=0"])
    #expect(connects.elements.map { $0?.channelID } == ["sora"])
    client.close()
    await server.stop()
  }

  @Test func aRedirectTakesWhatIsThere() async throws {
    let runs = Recorder<Void>()
    let connects = Recorder<ConnectMessage?>()
    let target = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(offer())
      _ = await drain(connection)
    }
    let entry = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(.redirect(RedirectMessage(location: target.url)))
      _ = await drain(connection)
    }
    var configuration = configuration([entry.url])
    configuration.completeConnect = { connect in
      runs.append(())
      connect.environment = "here"
    }
    let client = SignalingClient(configuration: configuration)
    _ = try await client.connect()
    #expect(runs.elements.count == 1)
    #expect(connects.elements.map { $0?.environment } == ["here", "here"])
    #expect(connects.elements.map { $0?.redirect } == [nil, true])
    client.close()
    await entry.stop()
    await target.stop()
  }

  /// Who gives the attempt up from inside sends nothing.
  @Test func nothingIsSentWhereItGaveUp() async throws {
    let heard = Recorder<WebSocketConnection.Event?>()
    let server = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      heard.append(await messages.next())
    }
    let box = Recorder<SignalingClient>()
    var configuration = configuration([server.url])
    configuration.completeConnect = { _ in box.elements.first?.close() }
    let client = SignalingClient(configuration: configuration)
    box.append(client)
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.code == .cancelled)
    var events: [SignalingClient.Event] = []
    for await event in client.events { events.append(event) }
    #expect(events == [.failed(.cancelled)])
    await server.stop()
    for case .text(let text)?? in heard.elements.map(Optional.some) {
      Issue.record("the server was told \(text)")
    }
  }

  /// What takes too long is ended with the attempt: events end in time, and the server's WebSocket too.
  @Test func itEndsWithTheAttempt() async throws {
    let closes = Recorder<WebSocketClose?>()
    let (began, outlasted) = (Recorder<Void>(), Recorder<Void>())
    let server = try await startServer { connection in
      began.append(())
      closes.append(await drain(connection))
    }
    var configuration = configuration([server.url])
    configuration.completeConnect = { _ in
      began.append(())
      do { try await Task.sleep(for: .seconds(60)) } catch { return }
      outlasted.append(())
    }
    let client = SignalingClient(configuration: configuration)
    let attempt = Task { await errorOf { _ = try await client.connect() } }
    await began.wait(for: 2)
    // The client hears of the open WebSocket a moment after the server; that it waits for nothing else then, nobody tells.
    try await Task.sleep(for: .milliseconds(100))
    client.close()
    #expect(await attempt.value?.code == .cancelled)
    var events: [SignalingClient.Event] = []
    for await event in client.events { events.append(event) }
    #expect(events == [.failed(.cancelled)])
    #expect(outlasted.elements.isEmpty)
    await closes.wait(for: 1)
    #expect(closes.elements.count == 1)
    await server.stop()
  }

  /// What a process goes through beforehand is all of it, up to an offer.
  @Test func aRehearsalComesToAnOffer() async {
    let padding = String(repeating: "v", count: 200)
    let offer = await SignalingClient.rehearse(
      ConnectMessage(role: .sendonly, channelID: "c"),
      offer: #"{"type":"offer","sdp":"\#(padding)","connection_id":"i"}"#)
    #expect(offer?.sdp == padding)
    #expect(offer?.connectionID == "i")
  }
}
