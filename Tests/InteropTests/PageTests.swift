import Testing

extension InteropBrowsers {
  /// Chromium on the page of `sora serve`.
  @Suite(.needsBrowser) struct Page {
    struct Watched: Decodable {
      var frames: Int
      var stamped: Int
      var backwards: Int
      var distinct: Int
      var audioEnergy: Double
      var size: [Int]
      var streamId: String
      var connectionId: String
      var connections: [Int]
      var status: Int
      var messages: [String]
    }

    @Test func playsWhatThePublisherSends() async throws {
      let outcome = try await Scenario(name: "page/watches").run(Watched.self)
      #expect(outcome.size == [640, 360])
      #expect(Double(outcome.stamped) >= 0.95 * Double(outcome.frames))
      #expect(outcome.backwards == 0)
      #expect(outcome.distinct > outcome.frames / 2)
      #expect(outcome.audioEnergy > 0)
      #expect(outcome.streamId == outcome.connectionId)
      // With the publisher and without it.
      #expect(outcome.connections == [2, 1])
      #expect(outcome.status == 0)
      #expect(outcome.messages == [])
    }

    struct Published: Decodable {
      var size: [Int]
      var camera: [Int]
      var framesSent: Int
      var status: Int
      var summary: Summary
      var messages: [String]
    }

    @Test func publishesItsCameraAndMicrophone() async throws {
      let outcome = try await Scenario(name: "page/publishes").run(Published.self)
      #expect(outcome.status == 0)
      let video = try #require(outcome.summary.video)
      #expect(video.codec == "VP8")
      #expect([video.width, video.height] == outcome.size)
      #expect(outcome.camera == [1280, 720])
      // Chromium scales by what the link and the machine bear, and keeps the camera's shape.
      #expect(abs(outcome.size[0] * 9 - outcome.size[1] * 16) <= 32)
      #expect(Double(video.frames) >= 0.9 * Double(outcome.framesSent))
      let audio = try #require(outcome.summary.audio)
      #expect(audio.codec?.lowercased() == "opus")
      #expect(audio.levelDb != nil)
      #expect(outcome.messages == [])
    }

    struct Looks: Decodable {
      var errors: [String: String]
      var words: String
      var captions: [String]
      var alone: String
      var overflow: [String]
      var links: [String]
      var published: String
      /// What the Tab key comes to in a call.
      var reached: [String]
      var shared: String
      var served: [String: String]
      /// Hosts that anything was loaded from.
      var requests: [String]
    }

    /// Pictures of each are in `.build/interop/page`.
    @Test func saysInWordsWhatIsWrongAndWhatToDo() async throws {
      var scenario = Scenario(name: "page/looks")
      scenario.limit = 180
      let outcome = try await scenario.run(Looks.self)
      let expected = [
        "nothing ticked": "Tick video or audio, or add a message label",
        "bad filters": "This isn't JSON", "filters without rules": "A list of filters is wanted",
        "bad metadata": "An object is wanted", "not-allowed": "Allow it",
        "no-camera": "untick what isn't there", "camera-busy": "Another program",
        "unknown role": "role=sendonly, recvonly or sendrecv",
        "remote": "Camera and microphone need https or localhost",
        "stopped": "The server was stopped", "not there": "The server can't be reached",
        "killed": "The server is gone",
        "no token": "asks for an access token", "wrong token": "doesn't accept the access token",
        "forged token": "doesn't accept the access token",
        "expired token": "The access token has expired",
        "another channel's token": "The access token is for another channel",
      ]
      #expect(Set(outcome.errors.keys) == Set(expected.keys))
      for name in ["stopped", "killed"] {
        #expect(outcome.errors[name]?.contains("Reconnecting (") == true)
      }
      for (name, text) in expected {
        let shown = outcome.errors[name] ?? ""
        #expect(shown.contains(text), "\(name): \(shown)")
        // No name of a type, and no number of a code.
        #expect(!shown.contains("Error") && !shown.contains("1006"), "\(name): \(shown)")
      }
      #expect(outcome.words.contains("2 here: 1 publishing, 1 doing both."))
      #expect(!outcome.words.contains("sendrecv"))
      #expect(outcome.captions.sorted() == ["\(outcome.published.prefix(6))…", "you"].sorted())
      #expect(outcome.alone.contains("sora publish ws://"))
      #expect(outcome.overflow == [])
      #expect(outcome.links.count >= 2)
      let keys = ["share", "mute-audio", "mute-video", "settings", "stop", "message"]
      #expect(Set(outcome.reached).isSuperset(of: keys), "\(outcome.reached)")
      // All that was set, and neither the token nor the name.
      #expect(outcome.shared.contains("fps=15") && outcome.shared.contains("bit_rate=900"))
      #expect(!outcome.shared.contains("secret") && !outcome.shared.contains("Ann"))
      let policy = "default-src 'none'"
      #expect(outcome.served["GET /"] == "200 text/html \(policy)")
      #expect(outcome.served["HEAD /page.css"] == "200 text/css \(policy)")
      #expect(outcome.served["GET /client.js"] == "200 text/javascript \(policy)")
      #expect(outcome.served["POST /"]?.hasPrefix("405") == true)
      #expect(outcome.served["GET /nothing.js"]?.hasPrefix("404") == true)
      #expect(Set(outcome.requests) == ["127.0.0.1", "192.0.2.10"])
    }

    struct Met: Decodable {
      var frames: Int
      var stamped: Int
      var tiles: Int
      var counters: [Int]
      var status: [Int]
      var streams: [Summary.Stream]?
      var messages: [String]
    }

    @Test func sendsAndReceivesAtOnce() async throws {
      let outcome = try await Scenario(name: "page/meets").run(Met.self)
      #expect(Double(outcome.stamped) >= 0.95 * Double(outcome.frames))
      // Itself and the publisher; the player sends nothing.
      #expect(outcome.tiles == 2)
      #expect(outcome.counters == [3, 1, 1, 1])
      #expect(outcome.status == [0, 0])
      let streams = try #require(outcome.streams)
      #expect(streams.count == 2)
      for stream in streams {
        #expect((stream.video?.frames ?? 0) > 0)
        #expect((stream.audio?.seconds ?? 0) > 0)
      }
      #expect(outcome.messages == [])
    }
  }
}
