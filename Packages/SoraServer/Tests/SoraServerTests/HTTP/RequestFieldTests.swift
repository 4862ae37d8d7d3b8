import SoraSDP
import SoraSignaling
import Testing

/// What requests of WHIP and WHEP are made of, from literal text.
struct RequestFieldTests {
  private func request(_ path: String = "/", _ headers: HeaderFields = [:]) -> HTTPRequest {
    HTTPRequest(method: "POST", path: path, headers: headers)
  }

  @Test func pathsAreTakenApartAndUnescaped() {
    for (path, segments) in [
      ("/", []), ("/whip/a", ["whip", "a"]), ("/whip/a/", ["whip", "a"]),
      ("/a//b", ["a", "", "b"]),
      ("/caf%C3%A9%20%2F", ["café /"]), ("/%e3%81%82", ["あ"]),
    ] as [(String, [String])] {
      #expect(request(path).pathSegments == segments, "\(path)")
    }
    for path in ["", "whip", "*", "/%", "/%4", "/%zz", "/%C3", "/a%ff", "/%+1"] {
      #expect(request(path).pathSegments == nil, "\(path)")
    }
  }

  @Test func tokensAreFoundWhateverTheSchemesCase() {
    for (value, expected) in [
      ("Bearer a.b-c", HTTPAuthorization.bearer("a.b-c")), ("bearer  x ", .bearer("x")),
      ("BEARER x y", .bearer("x y")), ("Bearer", .other), ("Bearer ", .other),
      ("Basic eDp5", .other), ("", .other),
    ] {
      #expect(request("/", ["authorization": value]).authorization == expected, "\(value)")
    }
    #expect(request().authorization == .absent)
  }

  @Test func conditionsCompareStrongly() {
    for (value, expected) in [
      ("*", HTTPIfMatch.any), (" * ", .any), ("\"a\"", .tags(["a"])),
      ("\"a\", \"b,c\" ,\"\"", .tags(["a", "b,c", ""])), ("W/\"a\", \"b\"", .tags(["b"])),
      ("a", .tags([])), ("", .tags([])), ("\"a", .tags(["a"])),
    ] {
      #expect(request("/", ["If-Match": value]).ifMatch == expected, "\(value)")
    }
    #expect(request().ifMatch == nil)
    #expect(HTTPIfMatch.any.matches("x"))
    #expect(HTTPIfMatch.tags(["x"]).matches("x") && !HTTPIfMatch.tags(["x"]).matches("y"))
  }

  @Test func mediaTypesAreReadWithoutParameters() {
    for (value, expected) in [
      ("application/sdp", "application/sdp"), ("Application/SDP ; charset=x", "application/sdp"),
      ("", ""), (";", ""),
    ] {
      #expect(request("/", ["Content-Type": value]).mediaType == expected, "\(value)")
    }
    #expect(request().mediaType == nil)
  }

  @Test func fragmentsAreReadAndWritten() throws {
    let text = """
      a=ice-ufrag:EsAw\r
      a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
      m=audio 9 RTP/AVP 0\r
      a=mid:0\r
      a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0\r
      a=candidate:3471623853 1 udp 2122194687 198.51.100.1 61765 typ host generation 0\r
      a=end-of-candidates\r

      """
    let fragment = try SDPFragment(parsing: text)
    #expect(fragment.ufrag == "EsAw" && fragment.password == "P2uYro0UCOQ4zxjKXaWCBui1")
    #expect(fragment.allCandidates.count == 2 && fragment.endsCandidates)
    #expect(fragment.media.map(\.mid) == ["0"])
    #expect(fragment.text == text)
    // Credentials may stand in the section.
    let inside = try SDPFragment(
      parsing: "m=audio 9 RTP/AVP 0\na=mid:0\na=ice-ufrag:abcd\na=ice-pwd:x")
    #expect(inside.ufrag == "abcd" && inside.password == "x" && !inside.endsCandidates)
    for (text, line) in [("", 0), ("\r\n", 0), ("nonsense", 1), ("a=x\nm=audio", 2)] {
      do throws(SDPError) {
        _ = try SDPFragment(parsing: text)
        Issue.record("\(text) was taken")
      } catch {
        #expect(error.line == line, "\(text): \(error)")
      }
    }
  }
}
