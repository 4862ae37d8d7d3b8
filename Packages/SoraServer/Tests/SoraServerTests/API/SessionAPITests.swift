import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// Sessions, statistics of clients and counts by the HTTP API.
@Suite(.timeLimit(.minutes(5))) struct SessionAPITests {
  private func serving(
    _ body: (SoraServer, APIClient) async throws -> Void
  ) async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    let server = try await SoraServer.start(configuration)
    do {
      try await body(server, APIClient(server.apiURL))
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }

  private func join(_ server: SoraServer, _ channel: String) async throws -> (
    peer: SignalingPeer, offer: JSONValue
  ) {
    let peer = try await SignalingPeer(server.url)
    peer.connect(channel: channel, #""client_id":"robot""#)
    return (peer, try await peer.offer())
  }

  private func get(_ api: APIClient, _ path: String) async throws -> APIClient.Answer {
    try await api.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  }

  @Test func sessionsAreListedAndEnded() async throws {
    try await serving { server, api in
      #expect(try await api.post("Sora_20231220.ListSessions", "{}").json == [])
      let one = try await join(server, "one")
      let two = try await join(server, "two")
      let id = try #require(one.offer["session_id"]?.stringValue)
      let list = try await api.post("Sora_20231220.ListSessions", "{}").json?.arrayValue ?? []
      #expect(list.map { $0["channel_id"] } == ["one", "two"])
      #expect(list[0]["session_id"]?.stringValue == id)
      // Nobody can carry media yet.
      #expect(list[0]["channel_connections"] == 0)
      #expect(list[0]["created_timestamp"]?.stringValue?.hasSuffix("Z") == true)

      let get = "Sora_20231220.GetSession"
      let found = try await api.post(get, #"{"channel_id":"one"}"#)
      #expect(found.status == 200 && found.json?["session_id"]?.stringValue == id)
      let named = try await api.post(get, #"{"channel_id":"one","session_id":"\#(id)"}"#)
      #expect(named.json == found.json)
      let terminate = "Sora_20230628.TerminateSession"
      for target in [get, terminate] {
        for body in [#"{"channel_id":"none"}"#, #"{"channel_id":"two","session_id":"\#(id)"}"#] {
          let missing = try await api.post(target, body)
          #expect(missing.status == 404 && missing.errorType == "SESSION-NOT-FOUND")
        }
        #expect(try await api.post(target, "{}").errorType == "MISSING-FIELD")
        let wrong = try await api.post(target, #"{"channel_id":"one","session_id":7}"#)
        #expect(wrong.status == 400 && wrong.errorType == "INVALID-FIELD")
      }
      let ended = try await api.post(
        terminate, #"{"channel_id":"one","session_id":"\#(id)"}"#)
      #expect(ended.status == 200 && ended.json?["session_id"]?.stringValue == id)
      let close = try await one.peer.close()
      #expect(close?.code == .normal && close?.reason == "DISCONNECTED-API")
      #expect(await server.channels == ["two"])
      two.peer.socket.close()
    }
  }

  @Test func theLastStatisticsOfEachClientAreKept() async throws {
    try await serving { server, api in
      let (list, listChannel, get) = (
        "Sora_20211215.ListRtcStats", "Sora_20211215.ListChannelRtcStats",
        "Sora_20211215.GetRtcStats"
      )
      let (peer, offer) = try await join(server, "one")
      let id = try #require(offer["connection_id"]?.stringValue)
      let names = #"{"channel_id":"one","connection_id":"\#(id)"}"#
      #expect(try await api.post(list, "").json == [])
      let early = try await api.post(get, names)
      #expect(early.status == 404 && early.errorType == "RTC-STATS-NOT-FOUND")
      let unknown = try await api.post(get, #"{"channel_id":"one","connection_id":"x"}"#)
      #expect(unknown.status == 404 && unknown.errorType == "CONNECTION-NOT-FOUND")

      let report = #"{"id":"A","type":"outbound-rtp","timestamp":1700000000000.5,"bytes":7}"#
      peer.socket.send(text: #"{"type":"pong","stats":[{"id":"old"}]}"#)
      peer.socket.send(text: #"{"type":"pong"}"#)
      peer.socket.send(text: #"{"type":"pong","stats":[\#(report)]}"#)
      let reports = try JSONValue(parsing: "[\(report)]")
      #expect(
        await waits {
          (try? await api.post(get, names))?.json?["rtc_stats"] == reports
        })
      let found = try await api.post(get, names).json
      #expect(found?["client_id"] == "robot" && found?["connection_id"]?.stringValue == id)
      #expect(found?["timestamp"]?.stringValue?.hasSuffix("Z") == true)
      #expect(try await api.post(list, "{}").json?[0] == found)
      #expect(try await api.post(listChannel, #"{"channel_id":"one"}"#).json?[0] == found)
      #expect(try await api.post(listChannel, #"{"channel_id":"two"}"#).json == [])

      // What is too large is counted, and what was there stays.
      let text = String(repeating: "a", count: 300_000)
      peer.socket.send(text: #"{"type":"pong","stats":[{"id":"\#(text)"}]}"#)
      #expect(
        await waits { await server.connections.first?.dropped.statisticsTooLarge == 1 })
      #expect(try await api.post(get, names).json == found)
      // A wrong type ends who sent it.
      peer.socket.send(text: #"{"type":"pong","stats":7}"#)
      #expect(try await peer.close()?.reason.hasPrefix("INVALID-MESSAGE") == true)
    }
  }

  @Test func countsAreThereForMonitors() async throws {
    try await serving { server, api in
      let health = try await get(api, "/healthz")
      #expect(health.status == 200 && health.body == "ok\n")
      let joined = try await join(server, "one")
      let refused = try await SignalingPeer(server.url)
      refused.connect(channel: "")
      _ = try await refused.close()
      let page = try await get(api, "/metrics")
      #expect(page.status == 200 && page.head.contains("text/plain; version=0.0.4"))
      let lines = page.body.split(separator: "\n").map(String.init)
      for line in [
        "# TYPE sora_connections gauge", "sora_connections 0", "sora_connections_pending 1",
        "sora_channels 1", "sora_refusals_total 1", "sora_auth_webhook_failures_total 0",
        "sora_dropped_total{reason=\"malformed_rtp\"} 0",
        "sora_dropped_total{reason=\"unknown_address\"} 0",
        "sora_event_webhook_events_total{result=\"dropped\"} 0",
        "sora_packets_total{direction=\"received\"} 0",
      ] {
        #expect(lines.contains(line), "\(line)")
      }
      // Each sample is a name, labels in braces perhaps, and a number; each metric has its type before.
      var types: Set<Substring> = []
      for line in lines {
        let words = line.split(separator: " ")
        if line.hasPrefix("#") {
          if words[1] == "TYPE" { types.insert(words[2]) }
          continue
        }
        #expect(words.count == 2 && UInt64(words[1]) != nil, "\(line)")
        #expect(types.contains(words[0].prefix { $0 != "{" }), "\(line)")
      }
      let report = try await api.post("Sora_20171010.GetStatsReport", "{}").json
      #expect(report?["total_failed_connections"] == 1 && report?["channels"] == 1)
      #expect(report?["total_ongoing_connections"] == 0)
      joined.peer.socket.close()
    }
  }
}
