import SoraSDP
import Testing

@Suite struct LosslessTests {
  @Test(arguments: Samples.all.indices)
  func textOfParsedTextIsTheSame(_ index: Int) throws {
    let sample = Samples.all[index]
    let parsed = try SessionDescription(parsing: sample)
    #expect(parsed.text == sample)
    try parsed.validate()
  }

  @Test(arguments: Samples.all.indices)
  func lineFeedsAloneAreAccepted(_ index: Int) throws {
    let sample = Samples.all[index]
    let text = String(decoding: sample.utf8.filter { $0 != 13 }, as: UTF8.self)
    #expect(try SessionDescription(parsing: text).text == sample)
  }

  @Test func bytesAndMissingLastLineEndAreAccepted() throws {
    var text = Samples.chromeOffer
    text.unicodeScalars.removeLast(2)
    let bytes = Array(text.utf8)
    let parsed = try bytes.withUnsafeBytes { try SessionDescription(parsing: $0) }
    #expect(parsed.text == Samples.chromeOffer)
    #expect(throws: SDPError.self) {
      try [0x76, 0x3d, 0xff].withUnsafeBytes { try SessionDescription(parsing: $0) }
    }
  }

  @Test func unknownLinesKeepTheirPlace() throws {
    let section = try SessionDescription(parsing: Samples.soraOffer).media[2]
    #expect(section.attribute("x-not-known-to-anyone") == "with:colons and words")
    #expect(section.firstLine("y") == "a line type of the future")
  }

  @Test func combiningCharactersDoNotJoinWithSeparators() throws {
    // A combining accent right after CRLF, a colon and a space: graphemes must not matter.
    let text = "v=0\r\ns=\u{301}x\r\na=tool:\u{301}y\r\na=group:BUNDLE \u{301}a b\r\n"
    let parsed = try SessionDescription(parsing: text)
    #expect(parsed.text == text)
    #expect(parsed.bundle == ["\u{301}a", "b"])
  }
}

@Suite struct ErrorTests {
  private func failure(_ text: String, validating: Bool = false) -> SDPError? {
    do throws(SDPError) {
      let parsed = try SessionDescription(parsing: text)
      if validating { try parsed.validate() }
      return nil
    } catch {
      return error
    }
  }

  @Test func faultsNameTheLine() {
    #expect(failure("")?.reason == .empty)
    #expect(failure("\r\n\r\n")?.reason == .empty)
    #expect(failure("o=- 1 1 IN IP4 0.0.0.0\r\n")?.reason == .missingVersion)
    #expect(failure("v=0\r\nhello\r\n")?.reason == .malformedLine)
    #expect(failure("v=0\r\na=x\ry\r\n")?.line == 2)
    #expect(failure("v=0\r\n\r\nt=0 0\r\n")?.reason == .malformedLine)
    let media = failure("v=0\r\nt=0 0\r\nm=audio 70000 RTP/AVP 0\r\n")
    #expect(media?.reason == .malformedMediaLine)
    #expect(media?.line == 3)
    #expect(media?.text == "m=audio 70000 RTP/AVP 0")
    #expect(media?.description.contains("line 3") == true)
  }

  @Test func validationNamesLineAndForm() {
    let fault = failure(
      "v=0\r\nt=0 0\r\nm=audio 9 X 0\r\na=mid:0\r\na=rtpmap:200 opus/48000\r\n", validating: true)
    #expect(fault?.reason == .malformedAttribute("a=rtpmap"))
    #expect(fault?.line == 5)
    #expect(failure("v=0\r\no=nonsense\r\n", validating: true)?.line == 2)
    #expect(failure("v=0\r\na=setup:maybe\r\n", validating: true)?.line == 2)
    #expect(failure("v=0\r\nb=AS:lots\r\n", validating: true)?.line == 2)
  }

  @Test func sizeAndSectionsAreBounded() {
    let filler = String(repeating: "a=x\r\n", count: 60_000)
    #expect(failure("v=0\r\n" + filler)?.reason == .tooLarge)
    let section = "m=audio 0 X 0\r\n"
    #expect(failure("v=0\r\n" + String(repeating: section, count: 512)) == nil)
    #expect(
      failure("v=0\r\n" + String(repeating: section, count: 513))?.reason == .tooManyMediaSections)
  }

  @Test func lineNumbersFollowTheText() throws {
    let parsed = try SessionDescription(parsing: Samples.chromeOffer)
    let lines = parsed.text.split(separator: "\r\n").map(String.init)
    for index in parsed.media.indices {
      #expect(lines[parsed.lineNumber(section: index) - 1].hasPrefix("m="))
      let number = parsed.lineNumber(section: index, offset: 1)
      #expect(lines[number - 1] == "c=IN IP4 0.0.0.0")
    }
  }
}
