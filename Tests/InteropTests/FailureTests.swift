import Testing

extension InteropResilience {
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

    struct Examined: Decodable {
      struct Run: Decodable {
        var status: Int
        var states: [String: String]
        var advice: String
        var errors: String
      }
      var results: [String: Run]
      var server: Bool
    }

    /// `sora doctor` names the first step that fails, and what to do.
    @Test func theDoctorFindsWhatIsWrong() async throws {
      var scenario = Scenario(name: "command/doctor")
      scenario.limit = 180
      let outcome = try await scenario.run(Examined.self)
      for name in ["well", "trusted", "insecure"] {
        let run = try #require(outcome.results[name])
        #expect(run.status == 0, "\(name): \(run)")
        for check in ["name", "tcp", "websocket", "offer", "candidates", "ice", "dtls", "media"] {
          #expect(run.states[check] == "ok", "\(name): \(check) in \(run.states)")
        }
      }
      // Two days are left of the certificate.
      #expect(outcome.results["trusted"]?.states["certificate"] == "warn")
      let broken = [
        "untrusted": ("certificate", "--ca FILE"), "TLS to plain": ("tls", "ws://"),
        "plain to TLS": ("websocket", "wss://"), "wrong path": ("websocket", "/signaling"),
        "nothing listens": ("tcp", "start the server"), "unknown host": ("name", "DNS"),
      ]
      #expect(outcome.results.count == 3 + broken.count)
      for (name, (check, advice)) in broken {
        let run = try #require(outcome.results[name])
        #expect(run.status == 1, "\(name): \(run)")
        #expect(run.states.filter { $0.value == "fail" }.map(\.key) == [check], "\(name): \(run)")
        #expect(run.advice.contains(advice), "\(name): \(run.advice)")
      }
      for (name, run) in outcome.results {
        #expect(run.errors.isEmpty, "\(name): \(run.errors)")
      }
      #expect(outcome.server)
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
