import SignalingTestSupport
import SoraSignaling
import Testing

/// Reads the `connect` of a client.
func readConnect(
  _ messages: inout WebSocketConnection.Messages.AsyncIterator
) async -> ConnectMessage? {
  guard case .text(let text)? = await messages.next(),
    case .connect(let connect)? = try? SignalingMessage(parsing: text)
  else { return nil }
  return connect
}

func offer(_ id: String = "ID") -> SignalingMessage {
  .offer(OfferMessage(sdp: "v=0", connectionID: id))
}

func configuration(_ urls: [String]) -> SignalingClient.Configuration {
  SignalingClient.Configuration(
    urls: urls, connect: ConnectMessage(role: .sendrecv, channelID: "sora"))
}

@Suite(.timeLimit(.minutes(5))) struct SignalingClientTests {
  @Test func connectsExchangesAndIsClosedByTheServer() async throws {
    let connects = Recorder<ConnectMessage?>()
    let answers = Recorder<WebSocketConnection.Event?>()
    let server = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      connects.append(await readConnect(&messages))
      connection.send(.notify(NotifyMessage(eventType: "early")))
      connection.send(offer())
      answers.append(await messages.next())
      connection.send(text: "not JSON")
      connection.send(binary: [1])
      connection.send(.push(PushMessage(data: ["k": 1])))
      connection.close(code: .normal, reason: "LIFETIME-EXPIRED")
    }
    let frames = Recorder<WebSocketMessage>()
    var configuration = configuration([server.url, server.url])
    configuration.onReceive = { frames.append($0) }
    let client = SignalingClient(configuration: configuration)
    #expect(client.contactURL == nil && !client.send(.pong(PongMessage())))
    let received = try await client.connect()
    #expect(received.connectionID == "ID")
    #expect(client.contactURL == server.url && client.connectedURL == server.url)
    #expect(client.send(.answer(AnswerMessage(sdp: "v=0"))))

    var events: [SignalingClient.Event] = []
    for await event in client.events { events.append(event) }
    #expect(events.count == 6)
    #expect(events.first == .opened(url: server.url))
    #expect(events[1] == .message(.notify(NotifyMessage(eventType: "early"))))
    #expect(events[2] == .message(offer()))
    if case .undecodable(let text, let error) = events[3] {
      #expect(text == "not JSON" && error.code == .malformedJSON)
    } else {
      Issue.record("not undecodable: \(events[3])")
    }
    #expect(events[4] == .message(.push(PushMessage(data: ["k": 1]))))
    #expect(
      events[5] == .closed(WebSocketClose(code: .normal, reason: "LIFETIME-EXPIRED")))
    #expect(frames.elements.count == 5 && frames.elements.contains(.binary([1])))
    #expect(connects.elements == [ConnectMessage(role: .sendrecv, channelID: "sora")])
    #expect(
      answers.elements == [.text(SignalingMessage.answer(AnswerMessage(sdp: "v=0")).text)])
    #expect(!client.send(.pong(PongMessage())))
    await server.stop()
  }

  @Test func refusalArrivesWithCodeAndReason() async throws {
    let server = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      _ = await readConnect(&messages)
      connection.close(code: .signalingError, reason: "INVALID-SPOTLIGHT")
    }
    let ends = Recorder<SignalingClient.Event>()
    var configuration = configuration([server.url])
    configuration.onEvent = { ends.append($0) }
    let client = SignalingClient(configuration: configuration)
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.stage == .signaling)
    #expect(error?.code == .closed(code: 4490, reason: "INVALID-SPOTLIGHT"))
    #expect(error?.description.contains("4490") == true)
    await ends.wait(for: 2)
    #expect(ends.elements.count == 2)
    if let error { #expect(ends.elements.last == .failed(error)) }
    await server.stop()
  }

  @Test func pingsAreAnswered() async throws {
    let pongs = Recorder<SignalingMessage?>()
    let server = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      _ = await readConnect(&messages)
      connection.send(.ping(PingMessage()))
      connection.send(offer())
      connection.send(.ping(PingMessage(statisticsEnabled: true)))
      for _ in 0..<2 {
        guard case .text(let text)? = await messages.next() else { return }
        pongs.append(try? SignalingMessage(parsing: text))
      }
      connection.close()
    }
    var configuration = configuration([server.url])
    configuration.statistics = { [["id": "a"]] }
    configuration.onEvent = { _ in }
    let client = SignalingClient(configuration: configuration)
    _ = try await client.connect()
    await pongs.wait(for: 2)
    #expect(
      pongs.elements == [
        .pong(PongMessage()), .pong(PongMessage(statistics: [["id": "a"]])),
      ])
    await server.stop()
  }

  @Test func disconnectWaitsForTheServer() async throws {
    let reasons = Recorder<SignalingMessage?>()
    let server = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      _ = await readConnect(&messages)
      connection.send(offer())
      guard case .text(let text)? = await messages.next() else { return }
      reasons.append(try? SignalingMessage(parsing: text))
      connection.close(reason: "TYPE-DISCONNECT")
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    _ = try await client.connect()
    await client.disconnect(timeout: .seconds(50))
    #expect(reasons.elements == [.disconnect(DisconnectMessage(reason: "NO-ERROR"))])
    var last: SignalingClient.Event?
    for await event in client.events { last = event }
    #expect(last == .closed(WebSocketClose(code: .normal, reason: "TYPE-DISCONNECT")))
    await server.stop()
  }

  @Test func disconnectEndsEvenWhenTheServerDoesNot() async throws {
    let server = try await startServer { connection in
      connection.send(offer())
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    _ = try await client.connect()
    await client.disconnect(timeout: .milliseconds(50))
    var last: SignalingClient.Event?
    for await event in client.events { last = event }
    #expect(last == .closed(WebSocketClose(code: .normal)))
    await server.stop()
  }

  /// A redirect may be on its way when the client leaves: it isn't followed.
  @Test func whoHasLeftFollowsNoRedirect() async throws {
    let arrived = Recorder<Void>()
    let followed = Recorder<Void>()
    let target = try await startServer { connection in
      followed.append(())
      connection.send(offer())
      connection.close()
    }
    let entry = try await startServer { connection in
      var messages = connection.messages.makeAsyncIterator()
      _ = await readConnect(&messages)
      arrived.append(())
      _ = await messages.next()
      connection.send(.redirect(RedirectMessage(location: target.url)))
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([entry.url]))
    let attempt = Task { await errorOf { _ = try await client.connect() } }
    await arrived.wait(for: 1)
    await client.disconnect(timeout: .seconds(50))
    #expect(await attempt.value?.code == .cancelled)
    var last: SignalingClient.Event?
    for await event in client.events { last = event }
    #expect(last == .failed(.cancelled))
    #expect(followed.elements.isEmpty)
    await entry.stop()
    await target.stop()
  }

  @Test func offerThatNeverComesIsATimeout() async throws {
    let server = try await startServer { _ = await drain($0) }
    var error: SignalingError?
    // On a busy machine a short limit may pass before the socket is open.
    for limit in [0.1, 1, 10, 30] {
      var configuration = configuration([server.url])
      configuration.timeout = .seconds(limit)
      let client = SignalingClient(configuration: configuration)
      error = await errorOf { _ = try await client.connect() }
      #expect(error?.code == .timeout)
      if error?.stage == .signaling { break }
    }
    #expect(error?.stage == .signaling)
    await server.stop()
  }

  @Test func unusableOfferFailsAtOnce() async throws {
    let server = try await startServer { connection in
      connection.send(text: #"{"type":"offer","sdp":"v=0"}"#)
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.code == .missingField && error?.field == "offer.connection_id")
    await server.stop()
  }

  @Test func cancelIsImmediateWhileWaitingForTheOffer() async throws {
    let arrived = Recorder<Void>()
    let closes = Recorder<WebSocketClose?>()
    let server = try await startServer { connection in
      arrived.append(())
      closes.append(await drain(connection))
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    let task = Task { await errorOf { _ = try await client.connect() } }
    await arrived.wait(for: 1)
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    // The server sees an orderly end.
    await closes.wait(for: 1)
    #expect(closes.elements.first??.code == .normal || closes.elements.first??.code == .abnormal)
    var last: SignalingClient.Event?
    for await event in client.events { last = event }
    #expect(last == .failed(.cancelled))
    await server.stop()
  }

  @Test func cancelledBeforeItBegins() async throws {
    let server = try await startServer { _ = await drain($0) }
    let client = SignalingClient(configuration: configuration([server.url]))
    client.close()
    #expect(await errorOf { _ = try await client.connect() } != nil)
    var events: [SignalingClient.Event] = []
    for await event in client.events { events.append(event) }
    #expect(events == [.failed(.cancelled)])
    await server.stop()
  }

  @Test func usedTwiceIsATypedError() async throws {
    let server = try await startServer { connection in
      connection.send(offer())
      _ = await drain(connection)
    }
    let client = SignalingClient(configuration: configuration([server.url]))
    _ = try await client.connect()
    #expect(await errorOf { _ = try await client.connect() }?.code == .invalidConfiguration)
    client.close()
    await server.stop()
  }
}
