import Testing

extension InteropQuiet {
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

    struct Redirected: Decodable {
      var received: Received.Stream
      var joinedHome: Bool
      var joinedOther: Int
      var ended: Ending
      var status: Int
    }

    /// It comes to a node of a cluster that hasn't the channel, and follows `redirect`.
    @Test func itIsSentToTheNodeThatHasItsChannel() async throws {
      let outcome = try await Scenario(name: "official/redirected").run(Redirected.self)
      #expect(outcome.status == 0)
      #expect(outcome.joinedHome && outcome.joinedOther == 0)
      #expect(outcome.received.frames >= 60 && outcome.received.unreadable == 0)
      #expect(outcome.ended == .succeededWithoutChannels)
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
      #expect(outcome.ended == .succeededWithoutChannels)
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

    struct Channels: Decodable {
      struct Push: Decodable {
        var a: [Value]
      }
      enum Value: Decodable, Equatable {
        case number(Int)
        case text(String)

        init(from decoder: any Decoder) throws {
          let value = try decoder.singleValueContainer()
          if let number = try? value.decode(Int.self) {
            self = .number(number)
          } else {
            self = .text(try value.decode(String.self))
          }
        }
      }
      struct Run: Decodable {
        /// Those that opened at the first client, and those that its offer announced.
        var labels: [String]
        var announced: [String]
        /// What each client was told of the WebSocket.
        var switched: [Bool]
        /// Types of the messages of signaling that went over data channels.
        var overChannels: [String]
        var push: Push
        /// Messages on labels that nobody asked for.
        var others: Int
        /// Who left by itself, was ended by the HTTP API, and left last.
        var left: Ending
        var disconnected: Ending
        var last: Ending
      }
      var with: Run
      var without: Run
    }

    struct Turns: Decodable {
      struct Seen: Decodable {
        var frames: Int
        var size: [Int]?
        var isHeard: Bool
      }
      struct Turn: Decodable {
        var speaker: [Seen]
        var others: [Seen]
      }
      var offered: [Bool]
      var turns: [Turn]
    }

    /// Each of three speaks in turn: the others see it in the middle layer and hear it, and see who is silent in the lowest layer.
    @Test func whoSpeaksIsInTheSpotlight() async throws {
      let outcome = try await Scenario(name: "official/spotlight", limit: 150).run(Turns.self)
      #expect(outcome.offered == [true, true, true])
      #expect(outcome.turns.count == 3)
      for turn in outcome.turns {
        #expect(turn.speaker.count == 2 && turn.others.count == 4)
        for seen in turn.speaker {
          #expect(seen.frames >= 20 && seen.isHeard)
          // Half of 640 x 352.
          #expect(seen.size == [320, 176])
        }
        for seen in turn.others {
          // A quarter, in whole blocks of 16.
          #expect(seen.frames >= 20 && !seen.isHeard && seen.size == [160, 80])
        }
      }
    }

    /// Three clients signal over data channels and send each other messages, with their WebSockets and without them. That all
    /// bytes came, with the sender's id where that was asked for, is the script's to see.
    @Test func signalingAndMessagesGoOverDataChannels() async throws {
      let outcome = try await Scenario(name: "official/channels", limit: 150).run(Channels.self)
      let labels = [
        "#plain", "#retried", "#rich", "#timed", "notify", "push", "rpc", "signaling", "stats",
      ]
      for (run, ignores) in [(outcome.with, false), (outcome.without, true)] {
        #expect(run.labels == labels && run.announced == labels)
        #expect(run.switched == [ignores, ignores, ignores])
        #expect(Set(run.overChannels).isSuperset(of: ["re-offer", "re-answer"]))
        #expect(run.push.a == [.number(1), .text("b")])
        #expect(run.others == 0)
      }
      #expect(outcome.with.left == .succeeded && outcome.with.last == .succeeded)
      for ending in [outcome.without.left, outcome.without.last] {
        #expect(ending.code == "CLOSE_SUCCEEDED" && ending.message.contains("DataChannel"))
      }
      for run in [outcome.with, outcome.without] {
        #expect(run.disconnected.code == "CLOSE_SUCCEEDED")
        #expect(run.disconnected.message.contains("DISCONNECTED-API"))
      }
    }

    struct Simulcast: Decodable {
      struct Switch: Decodable {
        var rid: String
        var ms: Int
      }
      /// The layers that the publisher sent.
      var sent: [String]
      var switches: [Switch]
      /// What who asked for nothing else still sees.
      var staying: String
      /// The layers that notifications named.
      var events: [String]
      var backwards: Int
      var ended: [Ending]
    }

    struct Simulcasts: Decodable {
      var codecs: [String: Simulcast]
    }

    /// That pictures of the right size come, and come on, is the script's to see.
    @Test func layersAreSeenAsTheyAreAskedFor() async throws {
      let outcome = try await Scenario(name: "official/simulcast", limit: 150).run(Simulcasts.self)
      #expect(Set(outcome.codecs.keys) == ["VP8", "VP9", "AV1"])
      for (codec, run) in outcome.codecs {
        #expect(run.sent == ["r0", "r1", "r2"], "\(codec)")
        #expect(run.switches.map(\.rid) == ["r1", "r2", "r0", "r2"])
        #expect(run.staying == "r2")
        #expect(run.events.suffix(4) == ["r1", "r2", "r0", "r2"], "\(codec): \(run.events)")
        #expect(run.backwards == 0)
        #expect(run.ended.allSatisfy { $0.code == "CLOSE_SUCCEEDED" })
      }
    }
  }
}
