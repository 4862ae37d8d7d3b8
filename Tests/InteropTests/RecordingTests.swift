import Foundation
import Testing

extension InteropBrowsers {
  /// Recordings in the video element of a browser, which people open them with.
  @Suite(
    .needsBrowser,
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe"),
      "ffprobe is missing: run `make deps`"))
  struct Recordings {
    struct Outcome: Decodable {
      struct File: Decodable {
        struct Recorded: Decodable {
          var complaints: String
          var frames: Int
          var width: Int
          var height: Int
          var duration: Double
        }
        struct Seen: Decodable {
          var state: String
          var error: String?
          var width: Int
          var height: Int
          var duration: Double
          var position: Double
          var frames: Int
          var dropped: Int
          var audioBytes: Int
        }
        var name: String
        var codec: String
        /// Whether the browser says that it decodes the codec.
        var isDecodable: Bool
        var recorded: Recorded
        var seen: Seen
      }
      var files: [File]
    }

    @Test func everyCodecIsPlayedToItsEnd() async throws {
      let outcome = try await Scenario(name: "recordings/chromium", limit: 120).run(Outcome.self)
      #expect(outcome.files.count == 12)
      for file in outcome.files {
        let recorded = file.recorded
        #expect(recorded.complaints == "", "\(file.name)")
        #expect(recorded.width == 320 && recorded.height == 180, "\(file.name): \(recorded)")
        #expect(recorded.frames >= 20 && recorded.duration > 2, "\(file.name): \(recorded)")
        if file.isDecodable {
          expectPlayed(file)
        } else {
          expectUndecodable(file)
        }
      }
    }

    private func expectPlayed(_ file: Outcome.File) {
      let (recorded, seen) = (file.recorded, file.seen)
      #expect(seen.state == "ended" && seen.error == nil, "\(file.name): \(seen)")
      #expect(seen.width == 320 && seen.height == 180, "\(file.name): \(seen)")
      #expect(abs(seen.duration - recorded.duration) < 0.3, "\(file.name): \(seen), \(recorded)")
      #expect(abs(seen.position - seen.duration) < 0.1, "\(file.name): \(seen)")
      // All are decoded; a busy machine may show some of them too late.
      #expect(abs(seen.frames - recorded.frames) <= 2, "\(file.name): \(seen), \(recorded)")
      #expect(seen.audioBytes > 0, "\(file.name): \(seen)")
    }

    /// Some builds of Chromium lack H.265 for patents' sake; all have the other codecs.
    private func expectUndecodable(_ file: Outcome.File) {
      #expect(file.codec == "h265", "\(file.name): Chromium decodes no \(file.codec)")
      #expect(file.seen.frames == 0, "\(file.name): \(file.seen)")
      // The container is read all the same: its audio is played.
      #expect(file.seen.state == "ended" && file.seen.audioBytes > 0, "\(file.name): \(file.seen)")
      withKnownIssue("Chromium here decodes no H.265, so \(file.name) is only probed") {
        #expect(file.isDecodable)
      }
    }
  }
}
