import Foundation
import SoraServer
import SoraSignaling
import Testing

/// Sora's HTTP API, as it is on the wire.
@Suite(.timeLimit(.minutes(5))) struct APITests {
  private func serving(
    recordings: URL? = nil, recordsEverything: Bool = false,
    _ body: (SoraServer, APIClient) async throws -> Void
  ) async throws {
    var configuration = SoraServer.Configuration()
    configuration.apiPort = 0
    configuration.recordingFolder = recordings?.path
    configuration.recordsEverything = recordsEverything
    let server = try await SoraServer.start(configuration)
    do {
      try await body(server, APIClient(server.apiURL))
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }

  /// A client that has sent `connect`; its media never flow.
  private func connect(
    _ server: SoraServer, channel: String, role: String = "sendonly", client: String = "c"
  ) async throws -> (WebSocketConnection, id: String) {
    let socket = try await WebSocketClient.connect(url: server.url)
    socket.send(
      text:
        #"{"type":"connect","role":"\#(role)","channel_id":"\#(channel)","client_id":"\#(client)"}"#
    )
    for await event in socket.messages {
      guard case .text(let text) = event else { break }
      let offer = try JSONValue(parsing: text)
      return (socket, try #require(offer["connection_id"]?.stringValue))
    }
    throw POSIXError(.ECONNRESET)
  }

  @Test func aServerHasNoAPIUnlessItIsAskedFor() async throws {
    let server = try await SoraServer.start()
    #expect(server.apiURL == nil)
    await server.shutdown()
  }

  /// The package's page has the table that people look into.
  @Test func eachTargetIsDocumented() async throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../README.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    try await serving { _, api in
      let all = try await api.post("Sora_20231220.StartRecordings", "{}").errorReason
      let names = all.matches(of: /Sora_\d{8}\.(\w+)/).map(\.1)
      #expect(names.count > 30, "\(all)")
      for name in names { #expect(text.firstRange(of: "\(name)`") != nil, "\(name)") }
    }
  }

  @Test func whatIsNoRequestSaysWhatIs() async throws {
    try await serving { server, api in
      #expect(server.apiURL?.hasPrefix("http://127.0.0.1:") == true)
      let missing = try await api.post(nil, "{}")
      #expect(missing.status == 400 && missing.errorType == "MISSING-TARGET")
      #expect(missing.errorReason.contains("x-sora-target"))
      let wrong = try await api.post("Sora_20231220.StartRecordings", "{}")
      #expect(wrong.status == 400 && wrong.errorType == "INVALID-TARGET")
      #expect(wrong.errorReason.contains("Sora_20231220.StartRecording,"))
      #expect(wrong.head.contains("content-type: application/json"))
      let get = try await api.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(get.status == 405 && get.errorType == "METHOD-NOT-ALLOWED")
      #expect(get.head.contains("allow: post"))
      let path = try await api.send(
        "POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      #expect(path.status == 404 && path.errorType == "PATH-NOT-FOUND")
      // A page of a browser may not ask before it posts: nothing allows it to.
      let preflight = try await api.send(
        "OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n")
      #expect(preflight.status == 405 && !preflight.head.contains("access-control"))
    }
  }

  @Test func forwardingFiltersAreMadeListedAndDeleted() async throws {
    try await serving { server, api in
      let (_, id) = try await connect(server, channel: "x", role: "recvonly")
      let filter = #""rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]"#
      let body = #"{"channel_id":"x","connection_id":"\#(id)","name":"n",\#(filter)}"#
      let made = "Sora_20230628.CreateConnectionForwardingFilter"
      #expect(try await api.post(made, body).status == 200)
      #expect(try await api.post(made, body).errorType == "FILTER-EXISTS")
      let wrong = try await api.post(
        "Sora_20230628.CreateChannelForwardingFilter",
        #"{"channel_id":"x","rules":[[{"field":"colour","operator":"is_in","values":[]}]]}"#)
      #expect(wrong.status == 400 && wrong.errorType == "INVALID-FIELD")
      let list = try await api.post(
        "Sora_20230628.ListForwardingFilters", #"{"channel_id":"x"}"#)
      let listed = try JSONValue(parsing: list.body)
      #expect(listed[0]?["connection_id"]?.stringValue == id)
      #expect(listed[0]?["name"] == "n" && listed[1] == nil)
      let ended = "Sora_20230628.DeleteConnectionForwardingFilter"
      #expect(try await api.post(ended, body).status == 200)
      #expect(try await api.post(ended, body).errorType == "FILTER-NOT-FOUND")
    }
  }

  @Test(arguments: ["{", "", "[]", "7", "{\"channel_id\":}", "\u{0}", "{}{}"])
  func aBodyThatIsNoObjectIsRefused(_ body: String) async throws {
    try await serving { _, api in
      let answer = try await api.post("Sora_20151104.DisconnectChannel", body)
      #expect(answer.status == 400)
      #expect(answer.errorType == (body.isEmpty ? "MISSING-FIELD" : "INVALID-JSON"))
    }
  }

  @Test func aBodyOfTooManyArraysIsRefused() async throws {
    try await serving { _, api in
      let deep = String(repeating: "[", count: 100_000)
      let answer = try await api.post("Sora_20151104.DisconnectChannel", deep)
      #expect(answer.status == 400 && answer.errorType == "INVALID-JSON")
    }
  }

  @Test func aBodyThatIsTooLargeIsRefused() async throws {
    try await serving { _, api in
      let body = #"{"channel_id":"\#(String(repeating: "a", count: 16 << 20))"}"#
      let answer = try await api.post("Sora_20151104.DisconnectChannel", body)
      #expect(answer.status == 413)
      // And others are still answered.
      #expect(try await api.post("Sora_20201013.ListConnections", "").body == "[]\n")
    }
  }

  @Test(arguments: [
    ("Sora_20151104.DisconnectChannel", #"{"channel_id":"x"}"#, "CHANNEL-NOT-FOUND"),
    ("Sora_20151104.DisconnectClient", #"{"channel_id":"x","client_id":"y"}"#, "CLIENT-NOT-FOUND"),
    ("Sora_20230628.ListForwardingFilters", #"{"channel_id":"x"}"#, "CHANNEL-NOT-FOUND"),
    (
      "Sora_20230628.DeleteConnectionForwardingFilter",
      #"{"channel_id":"x","connection_id":"y"}"#, "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20251217.RequestSimulcastRid",
      #"{"channel_id":"x","receiver_connection_id":"y","rid":"r1"}"#, "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20200807.FocusSpotlight", #"{"channel_id":"x","connection_id":"y"}"#,
      "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20151104.DisconnectConnection", #"{"channel_id":"x","connection_id":"y"}"#,
      "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20201120.DisconnectChannelByRole", #"{"channel_id":"x","role":"sendonly"}"#,
      "CHANNEL-NOT-FOUND"
    ),
    ("Sora_20160711.PushChannel", #"{"channel_id":"x","data":{}}"#, "CHANNEL-NOT-FOUND"),
    (
      "Sora_20160711.PushConnection", #"{"channel_id":"x","connection_id":"y","data":null}"#,
      "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20170529.GetStatsConnection", #"{"channel_id":"x","connection_id":"y"}"#,
      "CONNECTION-NOT-FOUND"
    ),
    (
      "Sora_20241218.RequestKeyFrame", #"{"channel_id":"x","connection_id":"y"}"#,
      "CONNECTION-NOT-FOUND"
    ),
  ])
  func whoIsNotThereIsNotFound(_ target: String, _ body: String, _ type: String) async throws {
    try await serving { _, api in
      let answer = try await api.post(target, body)
      #expect(answer.status == 404 && answer.errorType == type, "\(answer.body)")
      let empty = try await api.post(target, "{}")
      #expect(empty.status == 400 && empty.errorType == "MISSING-FIELD")
    }
  }

  @Test func connectionsAreListedAndEnded() async throws {
    try await serving { server, api in
      #expect(try await api.post("Sora_20201013.ListConnections", "{}").json == [])
      let first = try await connect(server, channel: "one", client: "robot")
      let second = try await connect(server, channel: "two", role: "recvonly")
      let all = try await api.post("Sora_20201013.ListConnections", "{}")
      #expect(all.status == 200 && all.json?.arrayValue?.count == 2)
      let one = try await api.post(
        "Sora_20201013.ListChannelConnections", #"{"channel_id":"one"}"#)
      let entry = one.json?[0]
      #expect(one.json?.arrayValue?.count == 1 && entry?["connection_id"]?.stringValue == first.id)
      #expect(entry?["client_id"] == "robot" && entry?["role"] == "sendonly")
      #expect(entry?["connected"] == false && entry?["session_id"]?.stringValue?.count == 26)

      let names = #"{"channel_id":"one","connection_id":"\#(first.id)"}"#
      let statistics = try await api.post("Sora_20170529.GetStatsConnection", names)
      #expect(
        statistics.status == 200 && statistics.json?["connection_id"]?.stringValue == first.id)
      #expect(statistics.json?["tracks"]?.arrayValue != nil)
      let keyFrame = try await api.post("Sora_20241218.RequestKeyFrame", names)
      #expect(keyFrame.status == 200 && keyFrame.json?["channel_id"] == "one")

      let gone = try await api.post(
        "Sora_20201120.DisconnectChannelByRole", #"{"channel_id":"two","role":"recvonly"}"#)
      #expect(gone.status == 200 && gone.json == [:])
      #expect(await end(of: second.0)?.reason == "DISCONNECTED-API")
      let wrong = try await api.post(
        "Sora_20201120.DisconnectChannelByRole", #"{"channel_id":"one","role":"boss"}"#)
      #expect(wrong.status == 400 && wrong.errorReason.contains("sendonly, recvonly or sendrecv"))
      #expect(try await api.post("Sora_20151104.DisconnectConnection", names).status == 200)
      #expect(await end(of: first.0)?.reason == "DISCONNECTED-API")
      #expect(try await api.post("Sora_20201013.ListConnections", "{}").json == [])
    }
  }

  private func end(of socket: WebSocketConnection) async -> WebSocketClose? {
    for await event in socket.messages { if case .closed(let close) = event { return close } }
    return nil
  }

  // MARK: Recording

  @Test func aServerWithoutAFolderSaysSo() async throws {
    try await serving { _, api in
      for target in ["StartRecording", "StopRecording"] {
        let answer = try await api.post("Sora_20231220.\(target)", #"{"channel_id":"x"}"#)
        #expect(answer.status == 400 && answer.errorType == "RECORDING-NOT-CONFIGURED")
        #expect(answer.errorReason.contains("--recordings"))
      }
    }
  }

  @Test func recordingsBeginAndEnd() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-api-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await serving(recordings: folder) { server, api in
      let (start, stop) = ("Sora_20231220.StartRecording", "Sora_20231220.StopRecording")
      let nobody = try await api.post(start, #"{"channel_id":"one"}"#)
      #expect(nobody.status == 404 && nobody.errorType == "CHANNEL-NOT-FOUND")
      let client = try await connect(server, channel: "one")
      for (field, value) in [
        ("expire_time", "-1"), ("expire_time", "\"1\""), ("split_duration", "0"),
        ("split_only", "1"), ("format", "\"avi\""), ("format", "7"),
      ] {
        let answer = try await api.post(start, #"{"channel_id":"one","\#(field)":\#(value)}"#)
        #expect(answer.status == 400 && answer.errorType == "INVALID-FIELD", "\(answer.body)")
        #expect(answer.errorReason.hasPrefix("\(field): send "))
      }
      let begun = try await api.post(
        start,
        #"{"channel_id":"one","expire_time":0,"format":"mp4","metadata":{"room":[1,"é"]}}"#)
      #expect(begun.status == 200, "\(begun.body)")
      #expect(begun.json?["channel_id"] == "one")
      #expect(begun.json?["recording_id"]?.stringValue?.count == 26)
      #expect(begun.json?["session_id"]?.stringValue?.count == 26)
      let again = try await api.post(start, #"{"channel_id":"one"}"#)
      #expect(again.status == 400 && again.errorType == "ALREADY-RECORDING")
      let ended = try await api.post(stop, #"{"channel_id":"one"}"#)
      #expect(ended.status == 200 && ended.json?["archives"] == [])
      #expect(ended.json?["recording_id"] == begun.json?["recording_id"])
      let over = try await api.post(stop, #"{"channel_id":"one"}"#)
      #expect(over.status == 404 && over.errorType == "RECORDING-NOT-FOUND")
      // One whose time is up, and one whose session is over, have ended by themselves.
      #expect(
        try await api.post(start, #"{"channel_id":"one","expire_time":1}"#).status == 200)
      while try await api.post(start, #"{"channel_id":"one"}"#).status != 200 {
        try await Task.sleep(for: .milliseconds(50))
      }
      client.0.close()
      while try await api.post(stop, #"{"channel_id":"one"}"#).status != 404 {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  @Test func aServerThatRecordsEverythingIsToldNothing() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-api-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await serving(recordings: folder, recordsEverything: true) { _, api in
      let answer = try await api.post(
        "Sora_20231220.StartRecording", #"{"channel_id":"one"}"#)
      #expect(answer.status == 400 && answer.errorType == "RECORDING-EVERYTHING")
    }
  }
}
