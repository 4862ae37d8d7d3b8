import Foundation
import Testing

/// `sora doctor` as it is run. With servers it is tried in `InteropTests`.
@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
  private static let checks = [
    "time", "network", "udp", "port", "certificates", "codecs", "cameras", "sound",
  ]

  @Test func aMachineAloneIsExamined() throws {
    let run = try Run(["doctor"])
    #expect(run.status == 0, "\(run.output)")
    for check in Self.checks {
      #expect(run.output.contains("  \(check) "), "\(check) in \(run.output)")
    }
    #expect(run.output.contains(" 0 failed\n"))
    #expect(run.errors.isEmpty)
  }

  @Test func nobodyListens() throws {
    let run = try Run(["doctor", "ws://127.0.0.1:1/signaling", "--json"])
    #expect(run.status == 1)
    let lines = try run.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(
      lines.dropLast().compactMap { $0["check"] as? String } == Self.checks + ["name", "tcp"])
    let last = try #require(lines.dropLast().last)
    #expect(last["state"] as? String == "fail")
    #expect((last["advice"] as? String)?.contains("start the server") == true)
    #expect(lines.last?["fail"] as? Int == 1)
    #expect(run.errors.isEmpty, "\(run.errors)")
  }

  @Test func wrongUsageIsToldAsElsewhere() throws {
    let run = try Run(["doctor", "http://127.0.0.1/"])
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("sora: URL http://127.0.0.1/: write ws://"))
  }

  /// What `make install` puts where shells look.
  @Test(arguments: ["bash", "zsh", "fish"])
  func shellsCompleteCommandsAndOptions(shell: String) throws {
    let run = try Run(["--generate-completion-script", shell])
    #expect(run.status == 0)
    for word in ["doctor", "video-codec", "test-pattern", "h265", "y4m"] {
      #expect(run.output.contains(word), "\(word)")
    }
  }
}
