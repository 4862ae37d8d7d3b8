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
    #expect(try VideoChoice("camera") == .camera(nil))
    #expect(try VideoChoice("camera:/dev/video3") == .camera("/dev/video3"))
    #expect(try VideoChoice("screen") == .screen(nil))
    #expect(try VideoChoice("screen:portal") == .screen("portal"))
    #expect(try VideoChoice("a/film.mp4") == .film("a/film.mp4"))
    #expect(try VideoChoice("film.webm") == .film("film.webm"))
    for text in ["camera:", "camera:front", "film", ""] {
      let error = #expect(throws: UsageError.self) { try VideoChoice(text) }
      #expect(
        error?.description.contains("window:TITLE, FILE.y4m, .webm, .mp4 or .mkv, or none")
          == true)
    }
  }

  @Test func audioChoices() throws {
    #expect(try AudioChoice("tone") == .tone)
    #expect(try AudioChoice("none") == AudioChoice.none)
    #expect(try AudioChoice("x.wav") == .file("x.wav"))
    #expect(try AudioChoice("mic") == .microphone(nil))
    #expect(try AudioChoice("mic:usb-1:2") == .microphone("usb-1:2"))
    #expect(try AudioChoice("x.webm") == .film("x.webm"))
    for text in ["mic:", "mp3"] {
      let error = #expect(throws: UsageError.self) { try AudioChoice(text) }
      #expect(
        error?.description.contains("tone, mic, mic:NAME, FILE.wav, .webm, .mp4 or .mkv, or none")
          == true)
    }
  }

  @Test func recordFiles() throws {
    let both = try RecordFiles(["a.y4m", "b.WAV"])
    #expect(both.video == "a.y4m")
    #expect(both.audio == "b.WAV")
    #expect(try RecordFiles([]) == RecordFiles([]))
    #expect(try RecordFiles(["a.y4m", "b.MP4"]).encoded == "b.MP4")
    #expect(try RecordFiles(["new/", "b.mp4"]).folder == "new/")
    #expect(try RecordFiles(["/tmp"]).folder == "/tmp")
    #expect(throws: UsageError.self) { try RecordFiles(["/tmp", "new/"]) }
    #expect(throws: UsageError.self) { try RecordFiles(["/tmp"], takesEncoded: false) }
    #expect(throws: UsageError.self) { try RecordFiles(["a.mp4"], takesEncoded: false) }
    #expect(throws: UsageError.self) { try RecordFiles(["a.mp4", "b.mkv"]) }
    #expect(throws: UsageError.self) { try RecordFiles(["a.y4m", "b.y4m"]) }
  }

  @Test func messagesBecomeOneLine() {
    #expect("a\n  b\n\nc ".inOneLine == "a b c ")
    #expect("a\u{1B}[2J".inOneLine == "a\\u{1b}[2J")
  }

  /// A name from outside neither begins a line nor drives a terminal.
  @Test func whatActsOnATerminalIsEscaped() {
    #expect("a\nleave evil\u{1B}[31m".printable == "a\\nleave evil\\u{1b}[31m")
    #expect("\r\t\u{7F}\u{9B}\u{2028}".printable == "\\r\\t\\u{7f}\\u{9b}\\u{2028}")
    #expect("abc\u{202E}fed\u{2066}".printable == "abc\\u{202e}fed\\u{2066}")
    #expect("空 café 👋🏽 \\n".printable == "空 café 👋🏽 \\n")
    for value in UInt32(0)...0x2100 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl = scalar.properties.generalCategory == .control
      #expect(!isControl || String(scalar).printable.allSatisfy { $0.isASCII && !$0.isNewline })
    }
  }

  @Test func negativeNumbersBelongToTheirOptions() {
    #expect(
      ArgumentText.joiningNegativeNumbers(["play", "--duration", "-3", "--json"])
        == ["play", "--duration=-3", "--json"])
    #expect(
      ArgumentText.joiningNegativeNumbers(["--fps", "-1e3", "--ca=x", "-3", "-v"])
        == ["--fps=-1e3", "--ca=x", "-3", "-v"])
    #expect(
      ArgumentText.joiningNegativeNumbers(["--", "--fps", "-3"]) == ["--", "--fps", "-3"])
  }
}
