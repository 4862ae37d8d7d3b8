import Testing

extension InteropBrowsers {
  /// Pages of `sora serve` in calls with each other: layers, the spotlight, messages, and who is muted.
  @Suite(.needsBrowser) struct PageCalls {
    struct Layers: Decodable {
      struct Switch: Decodable {
        var rid: String
        var height: Int
        var ms: Int
      }
      struct Run: Decodable {
        var switches: [Switch]
        var sent: [String]
        var framesWhileNone: Int
        var overflow: [String]
        var messages: [String]
      }
      var codecs: [String: Run]
      var again: Bool
    }

    /// Sizes of frames prove the layer: that they come is the script's to see.
    @Test func layersAreChosenInTheTileWhileTheCallRuns() async throws {
      let outcome = try await Scenario(name: "page/layers", limit: 180).run(Layers.self)
      #expect(Set(outcome.codecs.keys) == ["VP8", "VP9"])
      for (codec, run) in outcome.codecs {
        #expect(run.switches.map(\.rid) == ["r0", "r1", "r2", "r0"], "\(codec)")
        #expect(run.sent == ["r0", "r1", "r2"], "\(codec)")
        #expect(run.framesWhileNone == 0, "\(codec)")
        #expect(run.overflow == [] && run.messages == [], "\(codec)")
      }
      #expect(outcome.again)
    }

    struct Spotlights: Decodable {
      struct Seen: Decodable {
        var height: Int
        var isHeard: Bool
      }
      struct Turn: Decodable {
        var speaker: [Seen]
        var others: [Seen]
        var focused: [Int]
      }
      var turns: [Turn]
      var overflow: [String]
      var messages: [String]
    }

    @Test func theSpotlightShowsWhoSpeaks() async throws {
      let outcome = try await Scenario(name: "page/spotlights", limit: 180).run(Spotlights.self)
      #expect(outcome.turns.count == 3)
      for turn in outcome.turns {
        #expect(turn.speaker.count == 2 && turn.others.count == 4)
        for seen in turn.speaker { #expect(abs(seen.height - 180) <= 8 && seen.isHeard) }
        for seen in turn.others { #expect(abs(seen.height - 90) <= 8 && !seen.isHeard) }
        #expect(turn.focused == [1, 1, 1])
      }
      #expect(outcome.overflow == [])
      #expect(outcome.messages == [])
    }

    struct Talks: Decodable {
      struct Side: Decodable {
        /// Label and sender of each message of the other page.
        var heard: [[String]]
        var shown: String
        var people: String
        var headers: [String]
        var events: [String]
        var kinds: [String]
        var whole: Bool
        var status: String
      }
      struct Cameras: Decodable {
        var labels: [String]
        /// The one that the page's own tile shows.
        var tile: String
        /// Whether the other page still has the one stream.
        var streams: Bool
      }
      var ids: [String: String]
      var microphones: [String]
      var cameras: Cameras
      var overflow: [String]
      var ann: Side
      var bob: Side
      var caption: String
      var link: String
      var messages: [String]
    }

    @Test func messagesNamesAndNotificationsAreShown() async throws {
      let outcome = try await Scenario(name: "page/talks", limit: 120).run(Talks.self)
      let ids = (ann: try #require(outcome.ids["Ann"]), bob: try #require(outcome.ids["Bob"]))
      for (side, other, name) in [
        (outcome.ann, ids.bob, "Bob"), (outcome.bob, ids.ann, "Ann"),
      ] {
        #expect(side.heard.sorted { $0[0] < $1[0] } == [["#börse", other], ["#chat", other]])
        #expect(side.headers.count { $0 == other } == 2 && side.headers.count == 3)
        #expect(side.headers.allSatisfy { $0.utf8.count == 26 })
        #expect(side.shown.contains("from a terminal") && side.shown.contains(name))
        #expect(side.people.contains(name) && side.people.contains("you"))
        #expect(side.people.contains(#"{"seat":3}"#))
        #expect(side.whole)
        #expect(side.kinds.contains("connection.destroyed") && side.kinds.contains("push"))
        #expect(side.status.contains("Nobody else is here") == false)
      }
      let joined = outcome.ann.events.filter { $0.contains("Bob") }
      #expect(joined.contains { $0.contains("joined (recvonly)") })
      #expect(outcome.caption == "Ann")
      #expect(Set(outcome.microphones).count == 2)
      let cameras = outcome.cameras
      #expect(Set(cameras.labels).count == 2 && cameras.tile == cameras.labels.last)
      #expect(cameras.streams)
      #expect(outcome.overflow == [])
      #expect(outcome.bob.kinds.first == "connection.created")
      #expect(outcome.messages == [])
    }

    struct Mutes: Decodable {
      struct State: Decodable, Equatable {
        var dark: Bool
        var silent: Bool
        var covered: Bool
        var badges: [String]
      }
      struct Own: Decodable {
        var covered: Bool
        var words: String
      }
      struct States: Decodable {
        var before: State
        var video: State
        var both: State
        var own: Own
        var after: State
      }
      var states: States
      var overflow: [String]
      var messages: [String]
    }

    @Test func whoIsMutedIsSeenAndHeardNoMore() async throws {
      let outcome = try await Scenario(name: "page/mutes", limit: 120).run(Mutes.self)
      let states = outcome.states
      #expect(!states.before.covered && states.before.badges.isEmpty)
      #expect(states.video.dark && states.video.covered && !states.video.silent)
      #expect(states.both.dark && states.both.silent && states.both.badges == ["microphone off"])
      #expect(states.own.covered)
      #expect(states.own.words.contains("Turn microphone on"))
      #expect(states.own.words.contains("Turn camera on"))
      #expect(!states.after.dark && !states.after.silent && !states.after.covered)
      #expect(outcome.overflow == [])
      #expect(outcome.messages == [])
    }

    struct Moves: Decodable {
      var status: Int
      /// Connections of the server that went, and of the other.
      var joins: [Int]
      var streams: [Int]
      var named: Bool
      var messages: [String]
    }

    @Test func aServerThatGoesSendsPagesToAnother() async throws {
      let outcome = try await Scenario(name: "page/moves", limit: 120).run(Moves.self)
      #expect(outcome.status == 0)
      #expect(outcome.joins == [2, 3] && outcome.streams == [1, 1])
      #expect(outcome.named)
      #expect(outcome.messages == [])
    }
  }
}
