import Testing

extension InteropBrowsers {
  /// Who publishes and plays with an HTTP request for signaling.
  @Suite struct WHIP {
    struct Ours: Decodable {
      var status: [Int]
      var links: [Int]
      var restarts: [Int]
      var frames: [Int]
      var audioPackets: Int
      var ends: [Int]
    }

    @Test(.needsPeers) func ourOwnWebRTC() async throws {
      let outcome = try await Scenario(name: "whip/ours").run(Ours.self)
      #expect(outcome.status == [201, 201])
      #expect(outcome.links.allSatisfy { $0 > 0 })
      // Each restart is answered with new credentials, and pictures go on.
      #expect(outcome.restarts == [200, 200])
      #expect(outcome.frames[1] > outcome.frames[0])
      #expect(outcome.audioPackets > 50)
      #expect(outcome.ends == [200, 200])
    }

    struct Browser: Decodable {
      var status: [Int]
      var links: [Bool]
      var trickled: [Int]
      var restarted: Int
      var state: String
      var frames: Int
      var streams: Int
      var ends: [Int]
      var layers: [String: Int]
      var lowWidth: Int
      var messages: [String]
    }

    @Test(.needsBrowser) func chromiumPublishesAndPlays() async throws {
      let outcome = try await Scenario(name: "whip/chromium", limit: 150).run(Browser.self)
      #expect(outcome.status == [201, 201])
      #expect(outcome.links == [true, true])
      #expect(outcome.trickled == [204])
      #expect(outcome.restarted == 200)
      #expect(outcome.state == "connected")
      // Audio and video of one stream, through two publishers.
      #expect(outcome.streams == 1)
      #expect(outcome.ends == [200, 200, 200])
      let widths = ["0", "1", "2"].compactMap { outcome.layers[$0] }
      #expect(widths.count == 3 && widths[0] > widths[1] && widths[1] > widths[2])
      #expect(outcome.lowWidth == widths.last)
      #expect(outcome.messages == [])
    }

    struct Curl: Decodable {
      struct Session: Decodable {
        var status: Int
        var type: String
        var location: Bool
        var tag: Bool
        var links: Bool
      }
      var refused: [String: Int]
      /// A publisher's and a player's.
      var sessions: [Session]
      var frames: Int
      /// Of DELETE without a token, with it, and again.
      var ends: [String: [Int]]
      var left: Int
    }

    @Test(.needsPeers, .needsCurl) func curlCarriesItsRequests() async throws {
      let outcome = try await Scenario(name: "whip/curl").run(Curl.self)
      #expect(
        outcome.refused == [
          "no token": 401, "wrong token": 401, "another channel's": 401, "no offer": 422,
        ])
      #expect(outcome.sessions.count == 2)
      for session in outcome.sessions {
        #expect(session.status == 201 && session.type == "application/sdp")
        #expect(session.location && session.tag && session.links)
      }
      #expect(outcome.frames > 15)
      #expect(outcome.ends == ["publishing": [401, 200, 404], "playing": [401, 200, 404]])
      #expect(outcome.left == 0)
    }

    struct Aiortc: Decodable {
      var status: [Int]
      var width: Int
      var frames: Int
      var ends: [Int]
      var left: Int
    }

    @Test(.needsPeers) func aiortcPublishesAndPlays() async throws {
      let outcome = try await Scenario(name: "whip/aiortc").run(Aiortc.self)
      #expect(outcome.status == [201, 201])
      #expect(outcome.width == 640)
      #expect(outcome.frames > 15)
      #expect(outcome.ends == [200, 200])
      #expect(outcome.left == 0)
    }
  }
}
