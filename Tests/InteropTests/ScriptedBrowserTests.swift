import Testing

extension InteropBrowsers {
  /// A script in Chromium that speaks the protocol as the official client for browsers does, against a server that asks for a token.
  @Suite(.needsBrowser) struct ScriptedBrowser {
    struct Ended: Decodable, Equatable {
      var code: Int
      var reason: String
    }
    struct Defaults: Decodable {
      var delayMs: Double
      var ignores: Bool
      var labels: [String]
      var listed: [String]
      var video: [String]
      var audio: [String]
      var ssrcs: Int
      var opus: [String]
      var idBytes: Int
      var keys: [String]
      var methods: [String]
      var feedback: [Bool]
      var call: [String: Int]?
      var unknown: Int
      var wrong: Int
      var counters: [Int]
      var ended: Ended
    }
    struct Tokens: Decodable {
      struct Refusal: Decodable, Equatable {
        var code: Int
        var reason: String
      }
      var refusals: [String: Refusal]
      var codec: String
      var bitRate: Int
      var methods: [String]
      var encodings: Bool
      var offered: [String]
      var answered: [String]
      var codecs: [String]
      var lifetime: Ended
      var lifetimeSeconds: Double
    }
    struct Plain: Decodable {
      var isListed: Bool
      var application: Bool
      var isSwitched: Bool
      var ended: Ended
    }
    struct Simulcast: Decodable {
      struct Encoding: Decodable, Equatable {
        var rid: String
        var scaleResolutionDownBy: Double
        var scalabilityMode: String
      }
      var encodings: [Encoding]
      var sent: [String]
      var switches: [String]
      /// Whether each track's stream is named like its sender.
      var streams: Bool
      /// How re-offers came, and how they were answered.
      var exchanges: [String]
    }
    struct Messages: Decodable {
      var sections: [String]
      var whole: Bool
      /// Whether the one's header is the sender's id, and what stands before the other's, which asked for none.
      var header: Bool
      var noHeader: String
      var raw: [Int]
      var length: Int
      var noticed: Bool
      var others: Bool
    }
    struct Trailers: Decodable {
      var with: [Int]
      var without: [Int]
    }
    struct KeyFrames: Decodable {
      var quiet: Int
      var asked: Int
      var ended: Ended
    }
    struct WithoutSocket: Decodable {
      var ended: Ended
      var order: [String]
    }
    struct Outcome: Decodable {
      var defaults: Defaults
      var tokens: Tokens
      var explicitFalse: Plain
      var simulcast: Simulcast
      var messages: Messages
      var trailers: Trailers
      var keyFrames: KeyFrames
      var withoutSocket: WithoutSocket
    }

    @Test func allThatOfficialClientsInsistOnIsThere() async throws {
      let outcome = try await Scenario(name: "scripted/protocol", limit: 240).run(Outcome.self)
      check(outcome.defaults)
      check(outcome.tokens)
      #expect(!outcome.explicitFalse.isListed && !outcome.explicitFalse.application)
      #expect(!outcome.explicitFalse.isSwitched)
      #expect(outcome.explicitFalse.ended == Self.left)
      check(outcome.simulcast)
      check(outcome.messages)
      #expect(outcome.trailers.without == [0, 0])
      #expect(outcome.keyFrames.quiet == 0 && outcome.keyFrames.asked == 1)
      #expect(outcome.keyFrames.ended == Self.ended)
      #expect(outcome.withoutSocket.ended == Self.ended)
      #expect(outcome.withoutSocket.order == ["signaling close", "signaling closed"])
    }

    private static let left = Ended(code: 1000, reason: "TYPE-DISCONNECT")
    private static let ended = Ended(code: 1000, reason: "DISCONNECTED-API")

    private func check(_ defaults: Defaults) {
      #expect(defaults.delayMs <= 3000 && !defaults.ignores)
      #expect(defaults.labels == ["notify", "push", "rpc", "signaling", "stats"])
      #expect(defaults.listed == defaults.labels)
      #expect(
        defaults.video == ["VP9", "rtx"] && defaults.audio == ["opus", "red", "telephone-event"])
      #expect(defaults.ssrcs == 0 && defaults.idBytes == 26)
      // And which type redundancy carries.
      #expect(defaults.opus.count == 2 && defaults.opus.last?.hasSuffix("109/109") == true)
      for line in defaults.opus.dropLast() {
        #expect(line.contains("stereo=1") && !line.contains("usedtx"), "\(line)")
      }
      #expect(defaults.feedback == [true, true, true, true])
      let keys = [
        "client_id", "bundle_id", "connection_id", "channel_id", "session_id", "version", "config",
        "mid", "simulcast", "simulcast_multicodec", "spotlight", "audio", "video",
      ]
      #expect(Set(defaults.keys).isSuperset(of: keys))
      #expect(defaults.methods.count == 5)
      #expect(defaults.call == ["seat": 3])
      #expect(defaults.unknown == -32601 && defaults.wrong == -32602)
      #expect(defaults.counters == [1, 1])
      #expect(defaults.ended == Self.left)
    }

    private func check(_ tokens: Tokens) {
      let reasons = [
        "none": "ACCESS-TOKEN-MISSING", "wrong": "ACCESS-TOKEN-INVALID",
        "expired": "ACCESS-TOKEN-EXPIRED", "elsewhere": "ACCESS-TOKEN-CHANNEL",
      ]
      #expect(tokens.refusals == reasons.mapValues { Tokens.Refusal(code: 4490, reason: $0) })
      #expect(tokens.codec == "VP8" && tokens.codecs == ["VP8", "rtx"] && tokens.bitRate == 700)
      #expect(tokens.methods == ["2025.2.0/RequestSimulcastRid"])
      // Untouched, `scaleResolutionDownTo` included.
      #expect(tokens.encodings)
      #expect(tokens.offered == ["a=simulcast:recv r0;~r1"])
      #expect(tokens.answered.count == 1)
      #expect(tokens.lifetime == Ended(code: 1000, reason: "LIFETIME-EXPIRED"))
      #expect(tokens.lifetimeSeconds <= 5)
    }

    private func check(_ simulcast: Simulcast) {
      let standard = [("r0", 4.0), ("r1", 2.0), ("r2", 1.0)].map {
        Simulcast.Encoding(rid: $0, scaleResolutionDownBy: $1, scalabilityMode: "L1T1")
      }
      #expect(simulcast.encodings == standard)
      #expect(simulcast.sent == ["r0", "r1", "r2"])
      #expect(simulcast.switches.suffix(3) == ["r0", "r1", "r2"])
      #expect(simulcast.streams)
      #expect(simulcast.exchanges == ["in signaling re-offer", "out signaling re-answer"])
    }

    private func check(_ messages: Messages) {
      #expect(messages.sections == ["m=application"])
      #expect(messages.whole && messages.noticed && messages.others)
      #expect(messages.header && messages.noHeader.isEmpty)
      // Compressed together with its header for the one, as it is for the other.
      #expect(messages.raw[0] < messages.length / 4 && messages.raw[1] == messages.length)
    }

    struct Telephone: Decodable {
      var pressed: String
      var told: String
      var status: Int
      var offered: Bool
    }

    /// Keys of a telephone go from Chromium through the server to a player of ours.
    @Test func keysOfATelephoneArrive() async throws {
      let outcome = try await Scenario(name: "scripted/telephone").run(Telephone.self)
      #expect(outcome.offered && outcome.told == outcome.pressed)
      #expect(outcome.status == 0)
    }

    struct Rates: Decodable {
      struct Estimate: Decodable {
        var seconds: Double?
        var highestKbps: Int
        var offered: [String]
      }
      struct Audio: Decodable {
        var targetKbps: Double
        var fmtp: [String]
      }
      var estimates: [String: Estimate]
      struct Low: Decodable {
        var targetKbps: Double
        var sentKbps: Double
      }
      var low: [String: Low]
      var audio: [String: Audio]
    }

    /// In at most three connections each: probes measure a busy machine as well as a link.
    @Test func theEstimateReachesWhatIsAskedFor() async throws {
      let outcome = try await Scenario(name: "scripted/rates", limit: 200).run(Rates.self)
      #expect(outcome.estimates.count == 5)
      for (asked, estimate) in outcome.estimates {
        #expect((estimate.seconds ?? .infinity) <= 8, "\(asked): \(estimate)")
        #expect(!estimate.offered.isEmpty, "\(asked)")
      }
      // With Chromium's own camera an official test wants less than was asked for. An encoder of noise takes all it may, and wavers
      // by some percent.
      let camera = try #require(outcome.low["camera"])
      let noise = try #require(outcome.low["noise"])
      // Less, where the estimate is lower for a moment.
      for low in [camera, noise] { #expect((100...300).contains(low.targetKbps)) }
      #expect(camera.sentKbps < 300 && camera.sentKbps > 50)
      #expect(noise.sentKbps < 330 && noise.sentKbps > 50)
      // Where nothing is asked for, libwebrtc's own 32 kbit/s a channel.
      #expect(outcome.audio.mapValues(\.targetKbps) == ["none": 64, "24": 24, "96": 96, "dtx": 40])
      for (name, audio) in outcome.audio {
        #expect(audio.fmtp.contains { $0.contains("usedtx=1") } == (name == "dtx"))
      }
    }
  }
}
