import Testing

extension InteropQuiet {
  /// The official Python SDK as apps use it: what they ask for with `connect`, tell each other, and do when the server is gone.
  @Suite(.needsPeers) struct OfficialApps {
    struct Returned: Decodable {
      struct Seen: Decodable {
        var frames: Int
        var unreadable: Int
        var audioLevel: Double
      }
      var before: Seen
      var lost: [Ending]
      var refused: [String]
      var after: Seen
      var returned: Double
      var joins: Int
      var left: [Ending]
      var status: Int
    }

    /// That two tries each came to nothing meanwhile is the script's to see.
    @Test func theyComeBackAfterTheServerWasKilled() async throws {
      let outcome = try await Scenario(name: "official/returns", limit: 150).run(Returned.self)
      for seen in [outcome.before, outcome.after] {
        #expect(seen.frames >= 60 && seen.unreadable == 0)
        #expect(seen.audioLevel > 0.001)
      }
      for ending in outcome.lost { #expect(ending.code.hasPrefix("WEBSOCKET_ON"), "\(ending)") }
      #expect(outcome.refused.allSatisfy { $0 == "WEBSOCKET_HANDSHAKE_FAILED" })
      // Waiting between tries included.
      #expect(outcome.returned < 10)
      #expect(outcome.joins == 2)
      #expect(outcome.left.allSatisfy { $0 == .succeeded })
      #expect(outcome.status == 0)
    }

    struct Filtered: Decodable {
      var passed: [String: [String]]
      var ended: [Ending]
    }

    @Test func forwardingFiltersLetThroughWhatTheySay() async throws {
      let outcome = try await Scenario(name: "official/filters", limit: 120).run(Filtered.self)
      #expect(
        outcome.passed == [
          "none": ["audio of ann", "audio of bob", "video of ann", "video of bob"],
          "filters": ["audio of ann", "audio of bob"],
          "filter": ["video of ann", "video of bob"],
          "connection": ["audio of ann", "video of ann"],
          "client": ["audio of ann", "audio of bob", "video of ann"],
          "priority": ["video of bob"],
        ])
      #expect(outcome.ended.allSatisfy { $0 == .succeeded })
    }

    struct Told: Decodable {
      var newcomer: Bool
      var own: [Bool]
      /// Whether who was there already is named by its connection and its metadata.
      var present: [[Bool]]
      var leaver: Bool
      /// Messages that began with their sender's id, and all, by who heard them.
      var headers: [String: [Int]]
      var lengths: [Int]
      var ended: [Ending]
    }

    @Test func theyTellEachOtherMetadataAndWhoAMessageIsFrom() async throws {
      let outcome = try await Scenario(name: "official/tells").run(Told.self)
      #expect(outcome.newcomer && outcome.leaver)
      #expect(outcome.own == [true, true])
      #expect(outcome.present == [[true, true]])
      // Three on each of two labels.
      #expect(outcome.headers == ["ann": [6, 6], "bob": [6, 6]])
      #expect(outcome.lengths == [26, 26, 26, 26])
      #expect(outcome.ended == [.succeeded, .succeeded])
    }

    struct Rates: Decodable {
      struct Estimate: Decodable {
        var seconds: Double?
        var highestKbps: Int
        var targetKbps: Int
        var offered: Int
      }
      var estimates: [String: Estimate]
      var lowKbps: Double
    }

    /// In at most three connections each: probes measure a busy machine as well as a link.
    @Test func theirEstimateReachesWhatIsAskedFor() async throws {
      let outcome = try await Scenario(name: "official/rates", limit: 200).run(Rates.self)
      #expect(outcome.estimates.count == 5)
      for (asked, estimate) in outcome.estimates {
        #expect((estimate.seconds ?? .infinity) <= 8, "\(asked): \(estimate)")
        #expect(String(estimate.offered) == asked)
        #expect(Double(estimate.targetKbps) <= 1.01 * Double(estimate.offered), "\(asked)")
      }
      #expect((100...300).contains(outcome.lowKbps))
    }
  }
}
