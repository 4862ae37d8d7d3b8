import Testing

extension InteropNarrow {
  /// Subscribers of the development server behind a link that has no room for the stream, ours and the official client's, with
  /// either as the publisher, beside a subscriber whose link has.
  @Suite struct SubscriberLink {
    @Test(.needsLinks) func eachGetsWhatItsLinkTakes() async throws {
      let outcome = try await Scenario(name: "link/subscribers", limit: 240).run(Outcome.self)
      #expect(outcome.calls.count == 6)
      for (name, call) in outcome.calls.sorted(by: { $0.key < $1.key }) {
        for span in call.spans {
          print(
            "\(name), \(span.kbps.map { "\($0) kbit/s" } ?? "jitter"): most \(span.sentKbps.max() ?? 0) kbit/s sent,",
            "\(span.fps) fps, audio \(span.audio); beside it \(span.fastFps) fps, audio \(span.fastAudio)"
          )
          // A second of a busy machine's clock isn't exactly one.
          if let kbps = span.kbps {
            #expect(span.sentKbps.sorted()[span.sentKbps.count / 2] <= kbps * 11 / 10, "\(name)")
            #expect((span.sentKbps.max() ?? 0) <= kbps * 5 / 4, "\(name) \(span.sentKbps)")
          }
          #expect(span.audio > 0.94 * span.fastAudio, "\(name)")
          #expect(span.fastFps > 24, "\(name)")
          #expect(span.fastAudio > 0.9, "\(name)")
        }
      }
      for name in ["ours to ours", "ours to official"] {
        let span = try #require(outcome.calls[name]?.spans.first)
        #expect(span.fps >= 7, "\(name): three temporal layers, of which the lowest passes")
      }
      for name in ["official to ours", "official to official"] {
        let span = try #require(outcome.calls[name]?.spans.first)
        #expect(span.fps > 0.2, "\(name): a key frame every few seconds")
      }
      let staircase = try #require(outcome.calls["staircase"]).spans
      #expect(staircase.first?.fps ?? 0 > 20)
      let jitter = try #require(outcome.calls["jitter"]?.spans.first)
      #expect(
        jitter.sentKbps.sorted()[jitter.sentKbps.count / 2] < 2_000, "1.6 Mbit/s and little more")
      #expect(jitter.fps > 15)
    }

    struct Outcome: Decodable {
      var calls: [String: Call]
    }

    struct Call: Decodable {
      struct Span: Decodable {
        /// What the link takes; nil for any rate.
        var kbps: Int?
        /// What the server sent into it, second by second.
        var sentKbps: [Int]
        var fps: Double
        /// Seconds of audio per second, without what was concealed at ours.
        var audio: Double
        var fastFps: Double
        var fastAudio: Double
      }
      var spans: [Span]
    }
  }
}
