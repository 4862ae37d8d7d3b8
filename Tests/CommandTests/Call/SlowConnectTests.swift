import Foundation
import SignalingTestSupport
import Testing

/// An attempt to connect that takes long.
@Suite(.timeLimit(.minutes(2))) struct SlowConnectTests {
  /// Somebody who waits is told that the command does, too; and Ctrl-C ends it.
  @Test func whoNeverAnswersIsToldOf() async throws {
    let errors = FileManager.default.temporaryDirectory.appendingPathComponent(
      "slow-\(UUID().uuidString).log")
    defer { try? FileManager.default.removeItem(at: errors) }
    let player = try ServedProgram(
      ["play", "ws://127.0.0.1:\(try mutePort())/signaling", "--channel", "c", "--json"],
      errors: errors)
    var said = ""
    while !said.contains("still connecting; gives up after 30 s") {
      try await Task.sleep(for: .milliseconds(50))
      said = try String(contentsOf: errors, encoding: .utf8)
    }
    player.askToEnd()
    #expect(player.status() == 1)
    said = try String(contentsOf: errors, encoding: .utf8)
    #expect(said.components(separatedBy: "still connecting").count == 2, "\(said)")
  }
}
