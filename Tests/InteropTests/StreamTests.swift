import Testing

extension InteropQuiet {
  /// `sora play` while publishers come and go.
  @Suite(.needsPeers) struct Streams {
    struct Outcome: Decodable {
      struct Succession: Decodable {
        var status: Int
        var summary: Summary
        var rateWhileGone: Double
        var header: [String]
        var followed: [String]
        var filmSeconds: Double
        var soundSeconds: Double
        var hasSnapshot: Bool
        var longestRun: Int
        var unreadable: Int
        var distinct: Int
        var filmFramesOfSecond: Int
        var messages: [String]
      }
      var succession: Succession
      var table: String
    }

    @Test func theNextPublisherIsFollowedAndRecorded() async throws {
      let outcome = try await Scenario(name: "command/streams", limit: 150).run(Outcome.self)
      let run = outcome.succession
      #expect(run.status == 0)
      #expect(run.messages == [])
      // What `play` says: who was there for how long, and that nobody was.
      let summary = run.summary
      #expect(summary.streamId == run.followed[1] && summary.streamsLive == 1)
      #expect(summary.streams?.map(\.streamId) == run.followed)
      #expect(summary.streams?.first?.goneMs != nil && summary.streams?.last?.goneMs == nil)
      #expect(summary.timesGone == 1)
      let gone = try #require(summary.goneMs)
      #expect(gone > 1_000)
      let watched = try #require(summary.watchedMs)
      #expect(summary.video?.width == 640)
      for stream in try #require(summary.streams) {
        #expect(abs(try #require(stream.video).fps - 16) < 4)
      }
      #expect(run.rateWhileGone < 3)
      // The film has the first one's size, the times of both, and the last picture in the gap.
      #expect(run.header == ["W320", "H180", "F20:1"])
      #expect(abs(run.filmSeconds - Double(watched) / 1_000) < 1.5)
      #expect(abs(run.soundSeconds - Double(watched) / 1_000) < 1.5)
      #expect(run.hasSnapshot)
      #expect(Double(run.longestRun) >= Double(gone) / 1_000 * 20 * 0.8)
      #expect(run.unreadable * 20 < run.distinct)
      #expect(run.filmFramesOfSecond >= 20)

      // A line for each of two streams, drawn over the three lines before.
      #expect(outcome.table.contains("\u{1B}[2A\u{1B}[J"))
      #expect(outcome.table.contains("  > ") && outcome.table.contains("  gone for "))
      #expect(outcome.table.contains("2, 0 live at the end"))
    }
  }
}
