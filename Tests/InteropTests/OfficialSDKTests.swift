import Testing

extension Interop {
  /// The official Python SDK as the other end.
  @Suite(.needsPeers) struct OfficialSDK {
    struct Published: Decodable {
      var captured: Int
      var captureSeconds: Double
      var framesSent: Int
      var negotiated: Negotiated
      var ended: Ending
      var status: Int
      var summary: Summary
    }

    @Test func itsPicturesAndSoundArePlayed() async throws {
      let outcome = try await Scenario(name: "official/publishes").run(Published.self)
      #expect(outcome.status == 0)
      let video = try #require(outcome.summary.video)
      #expect(video.codec == "VP8")
      // The official SDK sends whole blocks of 16 lines: 352 of 360.
      #expect(video.width == 640 && video.height == 352)
      // A camera of 30 frames a second: nearly all of it is encoded, and nearly all of that is decoded here.
      #expect(Double(outcome.framesSent) >= 0.8 * Double(outcome.captured))
      #expect(Double(video.frames) >= 0.95 * Double(outcome.framesSent))
      let stamps = try #require(video.stamps)
      #expect(Double(stamps.frames) >= 0.95 * Double(video.frames))
      #expect(stamps.outOfOrder == 0)
      let audio = try #require(outcome.summary.audio)
      #expect(audio.codec?.lowercased() == "opus")
      #expect(abs(audio.seconds - outcome.captureSeconds) < 0.25 * outcome.captureSeconds)
      // 440 Hz at 8000 of 32768: -15 dB.
      #expect(try #require(audio.levelDb) > -30)
      #expect(outcome.ended == .succeeded)
      #expect(outcome.negotiated.srtp != nil)
      // The newest that its libwebrtc has.
      #expect(outcome.negotiated.dtls == "FEFD")
    }

    struct Received: Decodable {
      struct Stream: Decodable {
        var frames: Int
        var unreadable: Int
        var backwards: Int
        var missing: Int
        var size: [Int]
        var audioSeconds: Double
        var audioLevel: Double
      }
      var received: Stream
      var streamId: String
      var negotiated: Negotiated
      var ended: Ending
      var status: Int
      var summary: Summary
    }

    @Test func itReceivesOurPicturesWithTheirStampsIntact() async throws {
      let outcome = try await Scenario(name: "official/receives").run(Received.self)
      #expect(outcome.status == 0)
      let stream = outcome.received
      #expect(stream.size == [640, 360])
      #expect(stream.unreadable == 0)
      #expect(stream.backwards == 0)
      #expect(Double(stream.missing) <= 0.05 * Double(stream.frames))
      #expect(stream.audioSeconds > 1)
      #expect(stream.audioLevel > 0.001)
      #expect(outcome.streamId == outcome.summary.connectionId)
      #expect(outcome.ended == .succeeded)
    }

    struct ThreeClients: Decodable {
      struct Step: Decodable {
        struct Left: Decodable {
          // The official client's.
          var code: String?
          var message: String?
          // Ours.
          var status: Int?
          var error: String?
        }
        var step: String
        /// All, sendrecv, sendonly, recvonly: what each client that is there was told.
        var counters: [String: [Int]]
        /// Whether the newcomer was told who was there already.
        var others: Bool?
        var ended: Left?
      }
      var steps: [Step]
      var echoed: Bool
    }

    @Test func threeClientsComeAndGo() async throws {
      let outcome = try await Scenario(name: "official/three_clients").run(ThreeClients.self)
      let expected: [(step: String, there: Set<String>)] = [
        ("official joins", ["official"]),
        ("first joins", ["official", "first"]),
        ("first leaves", ["official"]),
        ("second joins", ["official", "second"]),
        ("third joins", ["official", "second", "third"]),
        ("second leaves", ["official", "third"]),
        ("official leaves", ["third"]),
        ("third leaves", []),
      ]
      #expect(outcome.steps.map(\.step) == expected.map(\.step))
      for (step, expected) in zip(outcome.steps, expected) {
        // The script has seen and heard every stream of every client that is there, and no other, by now.
        let count = expected.there.count
        #expect(Set(step.counters.keys) == expected.there, "\(step.step)")
        for (name, counters) in step.counters {
          #expect(counters == [count, count, 0, 0], "\(step.step), told to \(name)")
        }
        if let others = step.others { #expect(others, "\(step.step)") }
        guard let ended = step.ended else { continue }
        if let code = ended.code {
          #expect(Ending(code: code, message: ended.message ?? "") == .succeeded)
        } else {
          #expect(ended.status == 0 && ended.error == "", "\(step.step)")
        }
      }
      #expect(!outcome.echoed)
    }
  }
}
