import Testing

extension Interop {
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
