import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignaling
import Testing

/// What event webhooks are posted of connections, as it is on the wire.
@Suite(.timeLimit(.minutes(2))) struct EventPayloadTests {
  /// The reports of a connection that is there for two minutes, beside another one.
  private func reports(
    _ connect: String, granted: String
  ) throws -> (reports: [SFUConnectionReport], id: String) {
    let network = SimulatedNetwork(seed: 41)
    let server = try TestServer(network)
    let other = try ScriptedClient("other", 2, server).connect(.recvonly)
    #expect(network.run(until: { other.isConnected }, within: .seconds(5)))
    let client = try ScriptedClient("client", 1, server).connect(
      try ConnectMessage.read(try JSONValue(parsing: connect), path: "connect"), granted: granted)
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(125))
    client.say(.disconnect(reason: "NO-ERROR"))
    network.run(for: .seconds(1))
    let id = try #require(client.offer?.connectionID)
    let all = server.reports.compactMap { report -> SFUConnectionReport? in
      guard case .connection(let connection) = report else { return nil }
      return connection.notification.peer.connectionID == id ? connection : nil
    }
    return (all, id)
  }

  private func posted(_ reports: [SFUConnectionReport]) async throws -> [JSONValue] {
    let receiver = try await WebhookReceiver { _ in HTTPResponse(status: 204) }
    let client = WebhookClient()
    let metrics = AccessMetrics()
    let events = EventWebhook(
      .init(url: receiver.url, timeout: .seconds(5)), client, metrics,
      logger: LogRecorder().logger)
    for report in reports { events.send(.connection(report)) }
    #expect(await waits { metrics[.eventsDelivered] == reports.count })
    await events.finish()
    await client.shutdown()
    await receiver.stop()
    return receiver.bodies
  }

  @Test func aConnectionIsToldFromItsBeginningToItsEnd() async throws {
    let (reports, id) = try reports(
      #"""
      {"role":"sendonly","channel_id":"room","client_id":"robot","simulcast":true,
      "audio":{"bit_rate":64},"video":{"codec_type":"VP8","bit_rate":800}}
      """#, granted: #"{"event_metadata":{"plan":[7,null]},"bundle_id":"pair"}"#)
    let bodies = try await posted(reports)
    #expect(
      bodies.map { $0["type"] } == [
        "connection.created", "connection.updated", "connection.updated", "connection.destroyed",
      ])
    #expect(Set(bodies.map { $0["id"] }).count == 4)
    for (index, (body, report)) in zip(bodies, reports).enumerated() {
      let isLast = index == 3
      var fields = body.objectValue ?? [:]
      for key in ["type", "id", "version"] { #expect(fields.removeValue(forKey: key) != nil) }
      let timestamp = fields.removeValue(forKey: "timestamp")?.stringValue ?? ""
      let expectedTime = ["2025-06-15T15:06:40.", "2025-06-15T15:07:40.", "2025-06-15T15:08:40."]
      #expect(timestamp.hasPrefix(isLast ? "2025-06-15T15:08:4" : expectedTime[index]))
      #expect(timestamp.hasSuffix("Z") && timestamp.utf8.count == 27)
      var data = fields.removeValue(forKey: "data")?.objectValue ?? [:]
      let session = report.notification.sessionID
      let whose = """
        {"role":"sendonly","channel_id":"room","session_id":"\(session)","client_id":"robot",\
        "bundle_id":"pair","connection_id":"\(id)","multistream":true,"simulcast":true,\
        "spotlight":false,"event_metadata":{"plan":[7,null]}}
        """
      #expect(JSONValue.object(fields) == (try JSONValue(parsing: whose)))

      // Since when it is there is the same in all.
      let created = data.removeValue(forKey: "created_timestamp")?.stringValue ?? ""
      #expect(created == bodies[0]["timestamp"]?.stringValue)
      #expect(
        data.removeValue(forKey: "created_time")?.intValue
          == Int(report.createdUnixNanoseconds / 1000))
      let counted = isLast ? 0 : 1
      let ending =
        isLast ? #","reason":"NO-ERROR","destroyed_timestamp":"\#(timestamp)""# : ""
      let literal = """
        {"total_received_bytes":\(report.bytesReceived),"total_sent_bytes":\(report.bytesSent),\
        "minutes":\([0, 1, 2, 2][index]),"audio":{"codec_type":"OPUS","bit_rate":64},\
        "video":{"codec_type":"VP8","bit_rate":800},"channel_connections":\(counted + 1),\
        "channel_sendrecv_connections":0,"channel_sendonly_connections":\(counted),\
        "channel_recvonly_connections":1\(ending)}
        """
      #expect(JSONValue.object(data) == (try JSONValue(parsing: literal)))
    }
    // What was carried grows.
    let received = bodies.map { $0["data"]?["total_received_bytes"]?.intValue ?? 0 }
    let sent = bodies.map { $0["data"]?["total_sent_bytes"]?.intValue ?? 0 }
    for index in 1...2 {
      #expect(received[index] > received[index - 1] && sent[index] > sent[index - 1])
    }
    #expect(received[0] > 0 && sent[0] > 0 && received[3] >= received[2])
  }

  @Test func aMediumThatIsLeftOutIsFalse() async throws {
    let (reports, _) = try reports(
      #"{"role":"sendrecv","channel_id":"room","audio":false}"#, granted: "{}")
    let bodies = try await posted(reports)
    #expect(bodies.count == 4)
    for body in bodies {
      #expect(body["data"]?["audio"] == false)
      #expect(body["data"]?["video"] == ["codec_type": "VP9"])
      #expect(body["event_metadata"] == nil && body["simulcast"] == false)
    }
    let (none, _) = try self.reports(
      #"{"role":"sendrecv","channel_id":"room"}"#, granted: #"{"video":false}"#)
    let last = try #require(try await posted(none).last)
    #expect(last["data"]?["video"] == false)
    #expect(last["data"]?["audio"] == ["codec_type": "OPUS"])
  }

  @Test func theLanguageThatWasDecidedIsTold() async throws {
    let (reports, _) = try reports(
      #"{"role":"sendonly","channel_id":"room","audio_streaming_language_code":"en-US"}"#,
      granted: #"{"audio_streaming_language_code":"ja-JP"}"#)
    let bodies = try await posted(reports)
    #expect(bodies.count == 4)
    #expect(bodies.allSatisfy { $0["audio_streaming_language_code"] == "ja-JP" })
  }
}
