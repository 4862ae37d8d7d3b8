import Testing

extension InteropResilience {
  /// Pages of `sora serve` whose connection is lost, or goes on in another way than it began.
  @Suite(.needsBrowser) struct PageConnections {
    struct Returned: Decodable {
      struct Own: Decodable {
        var tiles: Int
        var stop: Bool
        var fixed: Bool
      }
      /// Whether viewers saw the publisher alone: two of them, and one again.
      var seen: [Bool]
      var told: String
      var own: Own
      var overflow: [String]
      var returned: Double
      /// Whether the tracks that are sent are the same, and as muted as they were.
      var kept: Bool
      var named: String
      var joins: Int
      var left: [String]
      var refused: [String]
      var refusals: Int
      var messages: [String]
    }

    @Test func aCallGoesOnAfterTheServerWasKilled() async throws {
      let outcome = try await Scenario(name: "page/returns", limit: 200).run(Returned.self)
      #expect(outcome.seen == [true, true, true])
      #expect(outcome.told.contains("Reconnecting (") && outcome.told.contains("Press Stop"))
      // Its own camera is seen meanwhile, and it can give up.
      #expect(outcome.own.tiles == 1 && outcome.own.stop && outcome.own.fixed)
      #expect(outcome.overflow == [])
      // The longest wait between two tries, and a connection.
      #expect(outcome.returned < 20)
      #expect(outcome.kept && outcome.named == "Ann")
      #expect(outcome.joins == 2 && outcome.left == ["idle", "idle"])
      for words in outcome.refused { #expect(words.contains("asks for an access token")) }
      #expect(outcome.refused.count == 2 && outcome.refusals == 2)
      #expect(outcome.messages == [])
    }

    struct Filtered: Decodable {
      var passed: [String: [String]]
      var shared: Bool
      var overflow: [String]
      var messages: [String]
    }

    @Test func forwardingFiltersLetThroughWhatTheySay() async throws {
      let outcome = try await Scenario(name: "page/filters", limit: 120).run(Filtered.self)
      #expect(
        outcome.passed == [
          "none": ["audio of Ann", "audio of Bob", "video of Ann", "video of Bob"],
          "no audio": ["video of Ann", "video of Bob"],
          "no video of Ann": ["audio of Ann", "audio of Bob", "video of Bob"],
          "only Ann": ["audio of Ann", "video of Ann"],
          "video first": ["video of Ann", "video of Bob"],
        ])
      #expect(outcome.shared && outcome.overflow == [])
      #expect(outcome.messages == [])
    }

    struct Channels: Decodable {
      struct Talk: Decodable {
        var sections: [String]
        var status: String
        var empty: String
        var tiles: [Int]
        var overflow: [String]
      }
      /// For each page, whether its WebSockets are closed.
      var closed: [[Bool]]
      var link: String
      var states: [String]
      /// What became of messages for channels that close, refuse and take them.
      var late: [String]
      var talk: Talk
      var messages: [String]
    }

    /// That frames, messages, mutes and notifications come without a WebSocket is the script's to see.
    @Test func aCallGoesOnWithoutItsWebSocket() async throws {
      let outcome = try await Scenario(name: "page/channels", limit: 120).run(Channels.self)
      #expect(outcome.closed == [[true], [true], [false]])
      #expect(outcome.link.contains("websocket=0"))
      #expect(outcome.states == ["connected", "connected"])
      #expect(outcome.late == ["fulfilled", "rejected", "fulfilled", "good"])
      // Messages alone, whatever the role: the offer has no section of media.
      let talk = outcome.talk
      #expect(talk.sections == ["m=application"] && talk.tiles == [0, 0, 0])
      #expect(talk.status.contains("Messages in talk") && talk.empty.contains("sora message ws://"))
      #expect(talk.overflow == [])
      #expect(outcome.messages == [])
    }
  }
}
