import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// Who is pushed what the HTTP API is posted, and who is disconnected.
@Suite(.timeLimit(.minutes(2))) struct PushAPITests {
  /// Runs with a publisher, both connections of one client, and one of the same client in another channel.
  private func serving(
    _ body: (APIClient, _ alice: ListeningClient, _ bobs: [ListeningClient], ListeningClient)
      async throws -> Void
  ) async throws {
    try await servingAPI { server, api, loop in
      var all: [ListeningClient] = []
      for (role, channel, client) in [
        ("sendonly", "room", "alice"), ("recvonly", "room", "bob"), ("recvonly", "room", "bob"),
        ("recvonly", "other", "bob"),
      ] {
        let one = try await ListeningClient(server.url, on: loop)
        all.append(one)
        try await one.join(role, channel, #""client_id":"\#(client)""#)
      }
      try await body(api, all[0], [all[1], all[2]], all[3])
      for one in all { await one.finish() }
    }
  }

  @Test func eachTargetReachesThoseThatItNames() async throws {
    try await serving { api, alice, bobs, elsewhere in
      func push(_ target: String, _ members: String) async throws {
        let answer = try await api.post(target, "{\(members)}")
        #expect(answer.status == 200 && answer.json == [:], "\(target): \(answer.body)")
      }
      try await push("Sora_20160711.PushChannel", #""channel_id":"room","data":"channel""#)
      try await push(
        "Sora_20160711.PushClient", #""channel_id":"room","client_id":"bob","data":"client""#)
      try await push(
        "Sora_20160711.PushConnection",
        #""channel_id":"room","connection_id":"\#(bobs[0].connectionID)","data":"connection""#)
      try await push(
        "Sora_20201120.PushChannelByRole",
        #""channel_id":"room","role":"sendonly","data":"senders""#)
      try await push(
        "Sora_20201120.PushChannelByRole",
        #""channel_id":"room","role":"recvonly","data":"receivers""#)
      // Behind the others, so that whoever has it has all.
      for channel in ["room", "other"] {
        try await push(
          "Sora_20160711.PushChannel", #""channel_id":"\#(channel)","data":{"last":[null,1.5]}"#)
      }
      let last: JSONValue = ["last": [nil, 1.5]]
      for (client, expected) in [
        (alice, ["channel", "senders", last]),
        (bobs[0], ["channel", "client", "connection", "receivers", last]),
        (bobs[1], ["channel", "client", "receivers", last]), (elsewhere, [last]),
      ] as [(ListeningClient, [JSONValue])] {
        #expect(await waits { client.pushes.last == last })
        #expect(client.pushes == expected)
      }
      let told = alice.messages.last { $0["type"] == "push" }
      #expect(told == ["type": "push", "data": last])
    }
  }

  @Test func whoIsNotThereIsNotPushed() async throws {
    try await serving { api, alice, _, _ in
      for (target, members, type) in [
        ("Sora_20160711.PushClient", #""client_id":"carol""#, "CLIENT-NOT-FOUND"),
        ("Sora_20160711.PushConnection", #""connection_id":"none""#, "CONNECTION-NOT-FOUND"),
        ("Sora_20201120.PushChannelByRole", #""role":"sendrecv""#, "CHANNEL-NOT-FOUND"),
      ] {
        let answer = try await api.post(target, #"{"channel_id":"room","data":1,\#(members)}"#)
        #expect(answer.status == 404 && answer.errorType == type, "\(answer.body)")
        let nothing = try await api.post(target, #"{"channel_id":"room",\#(members)}"#)
        #expect(nothing.status == 400 && nothing.errorType == "MISSING-FIELD")
        #expect(nothing.errorReason.hasPrefix("data: "))
      }
      let wrong = try await api.post(
        "Sora_20201120.PushChannelByRole", #"{"channel_id":"room","data":1,"role":"boss"}"#)
      #expect(wrong.status == 400 && wrong.errorType == "INVALID-FIELD")
      let named = #""channel_id":"room","connection_id":"\#(alice.connectionID)""#
      #expect(
        try await api.post("Sora_20160711.PushConnection", "{\(named),\"data\":7}").status == 200)
      #expect(await waits { !alice.pushes.isEmpty })
      #expect(alice.pushes == [7])
    }
  }

  @Test func allConnectionsOfAClientAreEnded() async throws {
    try await serving { api, alice, bobs, elsewhere in
      let body = #"{"channel_id":"room","client_id":"bob"}"#
      let ended = try await api.post("Sora_20151104.DisconnectClient", body)
      #expect(ended.status == 200 && ended.json == [:], "\(ended.body)")
      for bob in bobs {
        #expect(await waits { bob.close != nil })
        #expect(bob.close?.code == .normal && bob.close?.reason == "DISCONNECTED-API")
      }
      let left = try await api.post("Sora_20201013.ListConnections", "{}").json?.arrayValue
      #expect(
        left?.map { $0["connection_id"]?.stringValue }
          == [alice.connectionID, elsewhere.connectionID])
      #expect(alice.close == nil && elsewhere.close == nil)
      let again = try await api.post("Sora_20151104.DisconnectClient", body)
      #expect(again.status == 404 && again.errorType == "CLIENT-NOT-FOUND")
    }
  }
}
