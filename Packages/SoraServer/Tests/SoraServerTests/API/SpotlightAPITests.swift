import SoraServer
import SoraSignalingMessages
import Testing

/// The HTTP API's targets about spotlights, and what `connect` may ask for, as they are on the wire.
@Suite(.timeLimit(.minutes(2))) struct SpotlightAPITests {
  /// Runs with a server, a client with a spotlight in the channel `x`, and one without in the channel `y`.
  private func serving(
    _ body: (APIClient, _ spotlight: String, _ plain: String) async throws -> Void
  ) async throws {
    var configuration = SoraServer.Configuration()
    configuration.apiPort = 0
    let server = try await SoraServer.start(configuration)
    do {
      let spotlight = try await SignalingPeer(server.url)
      spotlight.connect(
        channel: "x",
        #""simulcast":true,"spotlight":true,"spotlight_number":3,"spotlight_focus_rid":"r2","spotlight_unfocus_rid":"none""#
      )
      let plain = try await SignalingPeer(server.url)
      plain.connect(channel: "y")
      let offers = (try await spotlight.offer(), try await plain.offer())
      #expect(offers.0["spotlight"] == true && offers.1["spotlight"] == false)
      let methods = try #require(offers.0["rpc_methods"]?.arrayValue)
      #expect(methods.contains("2025.2.0/RequestSpotlightRid"))
      #expect(methods.contains("2025.2.0/ResetSpotlightRid"))
      try await body(
        APIClient(server.apiURL), try #require(offers.0["connection_id"]?.stringValue),
        try #require(offers.1["connection_id"]?.stringValue))
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }

  @Test func placesAreGivenAndTaken() async throws {
    try await serving { api, id, plain in
      let ids = #"{"channel_id":"x","connection_id":"\#(id)"}"#
      func listed(_ key: String) async throws -> JSONValue? {
        try await api.post("Sora_20201013.ListChannelConnections", #"{"channel_id":"x"}"#)
          .json?[0]?[key]
      }
      #expect(try await listed("spotlight") == true)
      #expect(try await listed("spotlight_focused") == false)
      let focused = try await api.post("Sora_20200807.FocusSpotlight", ids)
      #expect(focused.status == 200)
      #expect(focused.json == ["channel_id": "x", "connection_id": .string(id)])
      #expect(try await listed("spotlight_focused") == true)
      #expect(try await listed("spotlight_fixed") == false)
      #expect(try await api.post("Sora_20200807.FocusSpotlightFixed", ids).json == focused.json)
      #expect(try await listed("spotlight_fixed") == true)
      #expect(try await api.post("Sora_20200807.UnfocusSpotlight", ids).json == focused.json)
      #expect(try await listed("spotlight_focused") == false)
      let number = try await api.post(
        "Sora_20200807.ChangeSpotlightNumber", #"{"channel_id":"x","spotlight_number":8}"#)
      #expect(number.json == ["channel_id": "x", "spotlight_number": 8])
      for value in ["0", "9", "-1", "1.5", #""2""#, "null", "99999999999999999999"] {
        let answer = try await api.post(
          "Sora_20200807.ChangeSpotlightNumber",
          #"{"channel_id":"x","spotlight_number":\#(value)}"#)
        #expect(answer.status == 400, "\(value): \(answer.body)")
      }
      let none = try await api.post(
        "Sora_20200807.FocusSpotlight", #"{"channel_id":"y","connection_id":"\#(plain)"}"#)
      #expect(none.status == 400 && none.errorType == "NO-SPOTLIGHT")
      let elsewhere = try await api.post(
        "Sora_20200807.FocusSpotlight", #"{"channel_id":"x","connection_id":"\#(plain)"}"#)
      #expect(elsewhere.status == 404 && elsewhere.errorType == "CONNECTION-NOT-FOUND")
    }
  }

  @Test func layersAreAskedForAndReset() async throws {
    try await serving { api, id, plain in
      let head = #""channel_id":"x","recv_connection_id":"\#(id)""#
      let rids = #""spotlight_focus_rid":"r1","spotlight_unfocus_rid":"r0""#
      let request = try await api.post("Sora_20211215.RequestSpotlightRid", "{\(head),\(rids)}")
      #expect(request.status == 200)
      #expect(
        request.json == [
          "channel_id": "x", "recv_connection_id": .string(id), "spotlight_focus_rid": "r1",
          "spotlight_unfocus_rid": "r0",
        ])
      let batch = "Sora_20211215.BatchRequestSpotlightRid"
      let item = #"{"send_connection_id":"\#(id)",\#(rids)}"#
      let all = try await api.post(batch, #"{\#(head),"item_list":[\#(item),{\#(rids)}]}"#)
      #expect(all.json == ["channel_id": "x", "recv_connection_id": .string(id)])
      let reset = try await api.post("Sora_20211215.ResetSpotlightRid", "{\(head)}")
      #expect(reset.json == ["channel_id": "x", "recv_connection_id": .string(id)])
      for wrong in ["1", "[]", "[1]", "[{}]", #"{"a":1}"#] {
        let answer = try await api.post(batch, #"{\#(head),"item_list":\#(wrong)}"#)
        #expect(answer.status == 400, "\(wrong): \(answer.body)")
      }
      let unknown = try await api.post(
        "Sora_20211215.RequestSpotlightRid",
        #"{\#(head),"spotlight_focus_rid":"r9","spotlight_unfocus_rid":"r0"}"#)
      #expect(unknown.status == 400 && unknown.errorType == "INVALID-FIELD")
      let none = try await api.post(
        "Sora_20211215.ResetSpotlightRid",
        #"{"channel_id":"y","recv_connection_id":"\#(plain)"}"#)
      #expect(none.status == 400 && none.errorType == "NO-SPOTLIGHT")
      let nobody = try await api.post(
        "Sora_20211215.ResetSpotlightRid", #"{\#(head),"send_connection_id":"nobody"}"#)
      #expect(nobody.status == 404)
    }
  }
}
