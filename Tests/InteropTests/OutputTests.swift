import Testing

extension InteropQuiet {
  /// The tool where what it writes can't be written, or what it reads was cut.
  @Suite(.needsPeers) struct Outputs {
    struct Outcome: Decodable {
      struct Run: Decodable {
        var status: Int
        var lines: [String]
        var line: String?
        var error: String?
      }
      var head: [String: Run]
      var full: [String: Run]
      var film: Run
      var sound: Run
    }

    @Test func eachEndsAndSaysWhyOnce() async throws {
      let outcome = try await Scenario(name: "command/outputs", limit: 240).run(Outcome.self)
      #expect(outcome.head.count == 7 && outcome.full.count == 7)
      for (name, run) in outcome.head {
        // The reader has what it wanted.
        #expect(run.status == 0 && run.lines.isEmpty, "\(name): \(run)")
        #expect(run.line?.isEmpty == false, "\(name)")
      }
      for (name, run) in outcome.full {
        #expect(run.status == 1, "\(name): \(run)")
        #expect(
          run.lines == ["sora: output: cannot write to standard output: No space left on device"],
          "\(name)")
      }
      #expect(outcome.film.status == 1)
      let error = try #require(outcome.film.error)
      #expect(error.hasPrefix("--record: ") && error.hasSuffix("No space left on device"))
      #expect(outcome.film.lines == ["sora: \(error)"])

      #expect(outcome.sound.status == 0)
      #expect(outcome.sound.lines.count == 1, "\(outcome.sound.lines)")
      #expect(
        outcome.sound.lines.first?.contains("its header says 2.0 s, 1.0 s are there") == true)
    }
  }
}
