import Testing

extension Interop {
  /// The tool where it can't do its job: status 1, and one line that names the stage.
  @Suite(.needsPeers) struct Failures {
    struct Outcome: Decodable {
      struct Run: Decodable {
        var status: Int
        var lines: [String]
        var error: String?
        var milliseconds: Int?
      }
      var results: [String: Run]
    }

    @Test func eachEndsWithOneLineThatNamesTheStage() async throws {
      let results = try await Scenario(name: "command/failures").run(Outcome.self).results
      let stages = [
        "wrong path": "signaling", "closed port": "signaling",
        "untrusted certificate": "signaling", "plain to TLS": "signaling", "no media": "media",
        // These two connect, and then nobody publishes.
        "trusted certificate": "media", "insecure": "media",
      ]
      #expect(Set(results.keys) == Set(stages.keys))
      for (name, run) in results {
        #expect(run.status == 1, "\(name): \(run)")
        #expect(run.lines.count == 1, "\(name): \(run.lines)")
        let error = try #require(run.error, "\(name)")
        #expect(error.hasPrefix(try #require(stages[name])), "\(name): \(error)")
        #expect(run.lines.first?.contains(error) == true, "\(name): \(run.lines)")
        // Nothing here is slow: a hang until some timeout would be a bug.
        #expect(try #require(run.milliseconds) < 15_000, "\(name)")
      }
    }
  }
}
