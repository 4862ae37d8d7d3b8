import Testing

extension InteropResilience {
  /// Who may connect, with the official Python SDK as the client.
  @Suite(.needsPeers) struct Access {
    struct Outcome: Decodable {
      struct Offer: Decodable {
        var client: String
        var metadata: [String: Int]
        var methods: [String]
        var codec: String
      }

      /// Close code and reason of each client that wasn't let in.
      var refusals: [String: String]
      var asked: Int
      var lifetimes: [String: Ending]
      var offer: Offer
      var bare: Ending
      var events: [String]
      var named: Bool
      var metrics: [String]
      var logged: Bool
      var leaked: Bool
    }

    @Test func tokensAndWebhooksDecide() async throws {
      let outcome = try await Scenario(name: "official/access").run(Outcome.self)
      let reasons = [
        "missing": "ACCESS-TOKEN-MISSING", "forged": "ACCESS-TOKEN-INVALID",
        "unsigned": "ACCESS-TOKEN-INVALID", "expired": "ACCESS-TOKEN-EXPIRED",
        "elsewhere": "ACCESS-TOKEN-CHANNEL",
      ]
      #expect(Set(outcome.refusals.keys) == Set(reasons.keys))
      for (name, reason) in reasons {
        let told = outcome.refusals[name] ?? ""
        #expect(told.hasPrefix("4490 wsreason=\(reason)"), "\(name): \(told)")
      }
      #expect(outcome.asked == 0)
      let webSocket = try #require(outcome.lifetimes["webSocket"])
      #expect(webSocket.code == "CLOSE_SUCCEEDED")
      #expect(webSocket.message.hasSuffix("wscode=1000 wsreason=LIFETIME-EXPIRED"))
      #expect(
        outcome.lifetimes["dataChannel"]
          == Ending(
            code: "CLOSE_SUCCEEDED",
            message: "Succeeded to close DataChannel: reason=LIFETIME-EXPIRED"))
      #expect(outcome.offer.client == "ann" && outcome.offer.metadata == ["seat": 1])
      #expect(outcome.offer.methods.isEmpty && outcome.offer.codec == "AV1")
      #expect(outcome.bare.code == "CLOSE_SUCCEEDED")
      let session = [
        "session.created", "connection.created", "connection.destroyed", "session.destroyed",
      ]
      #expect(outcome.events == session + session + session)
      #expect(outcome.named)
      #expect(
        outcome.metrics == ["sora_connections_created_total 3", "sora_access_refusals_total 5"])
      #expect(outcome.logged && !outcome.leaked)
    }
  }
}
