import SoraCommandSupport
import Testing

@Suite struct ArgumentTests {
  @Test(arguments: [("1280x720", 1280, 720), ("16X16", 16, 16), ("8192x8192", 8192, 8192)])
  func resolutionsAreRead(_ text: String, _ width: Int, _ height: Int) {
    #expect(Resolution(text) == Resolution(width: width, height: height))
  }

  @Test(arguments: [
    "", "x", "1280", "1280x", "1280x720x3", "15x720", "9000x10", "-16x16",
    "99999999999999999999x16",
  ])
  func otherTextsAreNoResolutions(_ text: String) {
    #expect(Resolution(text) == nil)
  }

  @Test func videoChoices() throws {
    #expect(try VideoChoice("test-pattern") == .testPattern)
    #expect(try VideoChoice("none") == VideoChoice.none)
    #expect(try VideoChoice("a/b.Y4M") == .file("a/b.Y4M"))
    for text in ["camera", "camera:/dev/video0", "film.mp4", ""] {
      let error = #expect(throws: UsageError.self) { try VideoChoice(text) }
      #expect(error?.description.contains("test-pattern, FILE.y4m or none") == true)
    }
  }

  @Test func audioChoices() throws {
    #expect(try AudioChoice("tone") == .tone)
    #expect(try AudioChoice("none") == AudioChoice.none)
    #expect(try AudioChoice("x.wav") == .file("x.wav"))
    for text in ["mic", "x.mp3"] {
      let error = #expect(throws: UsageError.self) { try AudioChoice(text) }
      #expect(error?.description.contains("tone, FILE.wav or none") == true)
    }
  }

  @Test func recordFiles() throws {
    let both = try RecordFiles(["a.y4m", "b.WAV"])
    #expect(both.video == "a.y4m")
    #expect(both.audio == "b.WAV")
    #expect(try RecordFiles([]) == RecordFiles([]))
    #expect(throws: UsageError.self) { try RecordFiles(["a.mp4"]) }
    #expect(throws: UsageError.self) { try RecordFiles(["a.y4m", "b.y4m"]) }
  }

  @Test func messagesBecomeOneLine() {
    #expect("a\n  b\n\nc ".inOneLine == "a b c ")
  }
}
