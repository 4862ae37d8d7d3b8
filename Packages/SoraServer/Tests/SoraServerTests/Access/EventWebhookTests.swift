import SoraServer
import SoraSignaling
import Synchronization
import Testing

/// What an event webhook is told, and what becomes of events that it doesn't take.
@Suite(.timeLimit(.minutes(5))) struct EventWebhookTests {
  private func session(_ number: Int) -> SFUReport {
    .sessionCreated(
      SFUSession(
        channelID: "\(number)", sessionID: "s", createdUnixNanoseconds: 1_750_000_000_123_456_789,
        counters: SFUCounters()))
  }

  private func channels(_ receiver: WebhookReceiver) -> [String] {
    receiver.bodies.compactMap { $0["channel_id"]?.stringValue }
  }

  private func telling(
    _ reply: @escaping WebhookReceiver.Reply, timeout: Duration = .seconds(5),
    _ change: (inout EventWebhook.Policy) -> Void = { _ in },
    _ body: (EventWebhook, WebhookReceiver, AccessMetrics) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(reply)
    let client = WebhookClient()
    let metrics = AccessMetrics()
    var policy = EventWebhook.Policy()
    policy.firstPause = .milliseconds(5)
    change(&policy)
    let events = EventWebhook(
      .init(url: receiver.url, timeout: timeout), client, metrics, logger: LogRecorder().logger,
      policy: policy)
    try await body(events, receiver, metrics)
    await events.finish()
    await client.shutdown()
    await receiver.stop()
  }

  @Test func eventsComeInOrderAndAreTriedAgain() async throws {
    let failures = Mutex(2)
    let reply: WebhookReceiver.Reply = { body in
      guard body?["channel_id"] == "3" else { return HTTPResponse(status: 204) }
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      return HTTPResponse(status: fails ? 503 : 200)
    }
    try await telling(reply) { events, receiver, metrics in
      for number in 1...6 { events.send(session(number)) }
      #expect(await waits { metrics[.eventsDelivered] == 6 })
      #expect(channels(receiver) == ["1", "2", "3", "3", "3", "4", "5", "6"])
      #expect(metrics[.eventTriesFailed] == 2 && metrics[.eventsDropped] == 0)
      // The same event has the same id.
      let ids = receiver.bodies.map { $0["id"] }
      #expect(Set(ids).count == 6 && ids[2] == ids[3] && ids[3] == ids[4])
      let body = receiver.bodies[0]
      #expect(body["type"] == "session.created" && body["session_id"] == "s")
      #expect(body["created_time"] == 1_750_000_000_123_456)
      #expect(body["timestamp"] == "2025-06-15T15:06:40.123456Z")
    }
  }

  @Test func recordingsAreToldAsTheyAreOnTheWire() async throws {
    let recording = SFURecording(
      recordingID: "r", channelID: "room", sessionID: "s",
      createdUnixNanoseconds: 1_750_000_000_123_456_789)
    try await telling({ _ in HTTPResponse(status: 200) }) { events, receiver, metrics in
      events.send(.recording(.stopped, recording, unixNanoseconds: 1_750_000_060_000_000_000))
      #expect(await waits { metrics[.eventsDelivered] == 1 })
      var body = receiver.bodies[0].objectValue ?? [:]
      for key in ["id", "version"] { #expect(body.removeValue(forKey: key) != nil) }
      let literal = """
        {"type":"recording.stopped","timestamp":"2025-06-15T15:07:40.000000Z","channel_id":"room",\
        "session_id":"s","recording_id":"r","created_time":1750000000123456,\
        "created_timestamp":"2025-06-15T15:06:40.123456Z"}
        """
      let expected = try JSONValue(parsing: literal)
      #expect(JSONValue.object(body) == expected)
    }
  }

  @Test func whatIsNeverTakenIsGivenUpAndCounted() async throws {
    let reply: WebhookReceiver.Reply = { body in
      HTTPResponse(
        status: body?["channel_id"] == "1" ? 500 : body?["channel_id"] == "2" ? 400 : 200)
    }
    try await telling(reply, { $0.tries = 3 }) { events, receiver, metrics in
      for number in 1...3 { events.send(session(number)) }
      #expect(await waits { metrics[.eventsDelivered] == 1 })
      // A bad request stays one.
      #expect(channels(receiver) == ["1", "1", "1", "2", "3"])
      #expect(metrics[.eventsDropped] == 2 && metrics[.eventTriesFailed] == 4)
    }
  }

  @Test func theQueueIsBounded() async throws {
    let gate = Gate()
    let reply: WebhookReceiver.Reply = { _ in
      await gate.wait()
      return HTTPResponse(status: 200)
    }
    try await telling(reply, { $0.capacity = 10 }) { events, receiver, metrics in
      events.send(session(0))
      #expect(await waits { !receiver.requests.isEmpty })
      for number in 1...25 { events.send(session(number)) }
      #expect(metrics[.eventsDropped] == 15)
      await gate.open()
      #expect(await waits { metrics[.eventsDelivered] == 11 })
      #expect(channels(receiver) == (0...10).map { "\($0)" })
    }
  }

  @Test func aServerThatGoesWaitsNotForEver() async throws {
    let gate = Gate()
    let reply: WebhookReceiver.Reply = { _ in
      await gate.wait()
      return HTTPResponse(status: 200)
    }
    try await telling(
      reply, timeout: .seconds(30), { $0.goodbye = .milliseconds(50) }
    ) { events, receiver, metrics in
      for number in 1...5 { events.send(session(number)) }
      #expect(await waits { !receiver.requests.isEmpty })
      await events.finish()
      #expect(metrics[.eventsDelivered] == 0)
      await gate.open()
    }
  }
}
