import Foundation
import SoundServer
import Testing

/// How far the test pattern's beeps are from their frames, from a publisher to a loudspeaker.
@Suite(
  .enabled(if: SoundServer.isInstalled, "\(SoundServer.requirement)"), .timeLimit(.minutes(2)))
struct LipSyncTests {
  @Test func beepsAreHeardWithTheirFrames() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let call = ["ws://127.0.0.1:\(port)/signaling", "--channel", "c", "--json"]
    let publisher = try ServedProgram(
      ["publish"] + call + ["--resolution", "640x360", "--fps", "30", "--video-codec", "vp8"])
    defer { publisher.interrupt() }
    let sound = try SoundServer()
    let player = try ServedProgram(
      ["play"] + call + ["--audio", "speaker", "--duration", "20"], environment: sound.environment)
    defer { player.interrupt() }
    let summary = try await player.summary()
    let video = try #require(summary["video"] as? [String: Any], "\(summary)")
    let sync = try #require(video["lipSyncMs"] as? [String: Any], "\(summary)")
    let beeps = try #require(sync["beeps"] as? Int)
    let offset = try #require(sync["offset"] as? Int)
    let p95 = try #require(sync["p95"] as? Int)
    print("lip sync: median \(offset) ms, p95 \(p95) ms, of \(beeps) beeps")
    // The median stands for the call: the first beeps are heard while buffers still find their size, and 95 % of so few are all of
    // them, those of a moment in which the machine was busy among them.
    #expect(beeps >= 10)
    #expect(abs(offset) <= 40)
  }
}
