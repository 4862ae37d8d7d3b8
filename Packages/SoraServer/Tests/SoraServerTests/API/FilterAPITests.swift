import SoraMedia
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// Forwarding filters by the HTTP API: what they do to media that flow, and how they are listed.
@Suite(.timeLimit(.minutes(2))) struct FilterAPITests {
  /// A publisher, and two who receive.
  private struct Call: Sendable {
    let server: SoraServer
    let api: APIClient
    let anna: ListeningClient
    let viewers: [ListeningClient]

    func post(_ name: String, _ members: String) async throws -> APIClient.Answer {
      try await api.post("Sora_20230628.\(name)", #"{"channel_id":"room",\#(members)}"#)
    }

    func list() async throws -> JSONValue? {
      try await api.post("Sora_20230628.ListForwardingFilters", #"{"channel_id":"room"}"#).json
    }

    private func sent(_ kind: MediaKind) async -> UInt64 {
      let all = await server.connections
      return all.first { $0.connectionID == anna.connectionID }?.tracks
        .first { $0.kind == kind }?.packets ?? 0
    }

    /// Expects a medium of Anna's to come.
    func flows(
      _ kind: MediaKind, to viewer: ListeningClient, _ location: SourceLocation = #_sourceLocation
    ) async {
      let before = await viewer.received(kind, of: anna)
      let comes = await waits { await viewer.received(kind, of: anna) > before + 5 }
      #expect(comes, "no \(kind)", sourceLocation: location)
    }

    /// Expects a medium of Anna's to be sent, and not to come.
    func isStopped(
      _ kind: MediaKind, to viewer: ListeningClient, _ location: SourceLocation = #_sourceLocation
    ) async {
      let isGone = await waits {
        await server.connections.first { $0.connectionID == viewer.connectionID }?.subscriptions
          .contains { $0.kind == kind } == false
      }
      #expect(isGone, "\(kind) is subscribed to", sourceLocation: location)
      // What was under way has come.
      let first = await sent(kind)
      _ = await waits { await sent(kind) > first + 2 }
      let before = await viewer.received(kind, of: anna)
      let goesOn = await waits { await sent(kind) > first + 10 }
      let after = await viewer.received(kind, of: anna)
      #expect(goesOn && before == after, "\(kind) comes", sourceLocation: location)
    }
  }

  private func calling(_ body: (Call) async throws -> Void) async throws {
    try await servingAPI { server, api, loop in
      let anna = try await ListeningClient(server.url, on: loop)
      try await anna.join("sendonly", "room", #""client_id":"anna""#)
      let viewers = [
        try await ListeningClient(server.url, on: loop),
        try await ListeningClient(server.url, on: loop),
      ]
      let call = Call(server: server, api: api, anna: anna, viewers: viewers)
      for viewer in viewers {
        try await viewer.join("recvonly")
        await call.flows(.video, to: viewer)
        await call.flows(.audio, to: viewer)
      }
      try await body(call)
      for one in viewers + [anna] { await one.finish() }
    }
  }

  private func rules(_ kind: String) -> String {
    #""rules":[[{"field":"kind","operator":"is_in","values":["\#(kind)"]}]]"#
  }

  @Test func aFilterOfTheChannelIsForEverybody() async throws {
    try await calling { call in
      let filter =
        #""name":"quiet","priority":3,"action":"block","version":"v1","metadata":{"by":["x"]}"#
      let made = try await call.post(
        "CreateChannelForwardingFilter", "\(filter),\(rules("video"))")
      #expect(made.status == 200 && made.json == [:], "\(made.body)")
      for viewer in call.viewers {
        await call.isStopped(.video, to: viewer)
        await call.flows(.audio, to: viewer)
        let told = viewer.notifications("forwarding.blocked")
        #expect(told.count == 1 && told[0]["kind"] == "video")
        #expect(told[0]["source_connection_id"]?.stringValue == call.anna.connectionID)
        #expect(told[0]["destination_connection_id"]?.stringValue == viewer.connectionID)
      }
      let listed = try JSONValue(
        parsing: #"[{"channel_id":"room",\#(filter),\#(rules("video"))}]"#)
      #expect(try await call.list() == listed)

      let unknown = try await call.post(
        "UpdateChannelForwardingFilter", #""name":"loud",\#(rules("audio"))"#)
      #expect(unknown.status == 404 && unknown.errorType == "FILTER-NOT-FOUND")
      #expect(try await call.list() == listed)
      // The other way round.
      let other = #""name":"quiet","priority":4,"version":"v2","metadata":null,"action":"block""#
      let changed = try await call.post(
        "UpdateChannelForwardingFilter", "\(other),\(rules("audio"))")
      #expect(changed.status == 200 && changed.json == [:], "\(changed.body)")
      for viewer in call.viewers {
        await call.flows(.video, to: viewer)
        await call.isStopped(.audio, to: viewer)
        #expect(viewer.notifications("forwarding.allowed").map { $0["kind"] } == ["video"])
      }
      #expect(
        try await call.list()
          == JSONValue(
            parsing: #"[{"channel_id":"room","name":"quiet","priority":4,"version":"v2","#
              + #""action":"block",\#(rules("audio"))}]"#))

      let gone = try await call.post("DeleteChannelForwardingFilter", #""name":"quiet""#)
      #expect(gone.status == 200 && gone.json == [:], "\(gone.body)")
      for viewer in call.viewers { await call.flows(.audio, to: viewer) }
      #expect(try await call.list() == [])
      let again = try await call.post("DeleteChannelForwardingFilter", #""name":"quiet""#)
      #expect(again.status == 404 && again.errorType == "FILTER-NOT-FOUND")
    }
  }

  @Test func aFilterOfAConnectionIsForItAlone() async throws {
    try await calling { call in
      let id = #""connection_id":"\#(call.viewers[0].connectionID)""#
      // Without a name; and nothing but audio may pass.
      let filter = #""action":"allow","version":"1","metadata":"m""#
      #expect(
        try await call.post(
          "CreateConnectionForwardingFilter", "\(id),\(filter),\(rules("audio"))"
        ).status == 200)
      await call.isStopped(.video, to: call.viewers[0])
      await call.flows(.audio, to: call.viewers[0])
      await call.flows(.video, to: call.viewers[1])
      #expect(
        try await call.list()
          == JSONValue(parsing: #"[{"channel_id":"room",\#(id),\#(filter),\#(rules("audio"))}]"#))

      let changed = try await call.post(
        "UpdateConnectionForwardingFilter", #"\#(id),"action":"allow",\#(rules("video"))"#)
      #expect(changed.status == 200 && changed.json == [:], "\(changed.body)")
      await call.flows(.video, to: call.viewers[0])
      await call.isStopped(.audio, to: call.viewers[0])
      await call.flows(.audio, to: call.viewers[1])
      #expect(
        try await call.list()
          == JSONValue(
            parsing: #"[{"channel_id":"room",\#(id),"action":"allow",\#(rules("video"))}]"#))
      #expect(call.viewers[1].notifications("forwarding.blocked").isEmpty)

      let wrong = try await call.post(
        "UpdateConnectionForwardingFilter", #""connection_id":"none",\#(rules("video"))"#)
      #expect(wrong.status == 404 && wrong.errorType == "CONNECTION-NOT-FOUND")
      let unnamed = try await call.post(
        "UpdateConnectionForwardingFilter", #"\#(id),"name":"n",\#(rules("video"))"#)
      #expect(unnamed.status == 404 && unnamed.errorType == "FILTER-NOT-FOUND")
      #expect(try await call.post("DeleteConnectionForwardingFilter", id).status == 200)
      await call.flows(.audio, to: call.viewers[0])
    }
  }
}
