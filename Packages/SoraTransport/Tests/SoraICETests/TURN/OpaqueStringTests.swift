import Foundation
import SoraICE
import Testing

/// How names and passwords of TURN servers are prepared (RFC 8265 §4).
@Suite struct OpaqueStringTests {
  private func prepare(_ text: String) throws(OpaqueString.Unusable) -> String {
    try OpaqueString.prepare(text) { $0.precomposedStringWithCanonicalMapping }
  }

  private func bytes(_ text: String) throws -> [UInt8] { Array(try prepare(text).utf8) }

  /// RFC 8265 §4.3, the strings that conform.
  @Test func theExamplesOfTheRFC() throws {
    for text in [
      "correct horse battery staple", "Correct Horse Battery Staple", "\u{3C0}\u{DF}\u{E5}",
      "Jack of \u{2666}s",
    ] {
      #expect(try bytes(text) == Array(text.utf8))
    }
    #expect(try bytes("foo\u{1680}bar") == Array("foo bar".utf8))
    #expect(throws: OpaqueString.Unusable.disallowed("\t")) { try prepare("my cat is a \u{9}by") }
    #expect(throws: OpaqueString.Unusable.empty) { try prepare("") }
  }

  /// §4.2.2: every space is U+0020, and what can be written in two ways is written in one.
  @Test func spacesAndComposition() throws {
    for space in ["\u{A0}", "\u{2003}", "\u{202F}", "\u{205F}", "\u{3000}"] {
      #expect(try bytes("a\(space)b") == Array("a b".utf8))
    }
    #expect(try bytes("e\u{301}") == [0xC3, 0xA9])
    #expect(try bytes("\u{212B}") == [0xC3, 0x85])
    // Hangul's parts become syllables (U+AC01).
    #expect(try bytes("\u{1100}\u{1161}\u{11A8}") == [0xEA, 0xB0, 0x81])
    // Compatibility is not composition: SASLprep (RFC 4013) would have made "IX" and "a" of these.
    #expect(try bytes("\u{2168}\u{AA}") == Array("\u{2168}\u{AA}".utf8))
  }

  @Test(
    arguments: [0, 0x7F, 0x85, 0xAD, 0x200B, 0xFEFF, 0xFDD0, 0x1FFFE, 0x1100, 0x640, 0xE0001]
      as [UInt32])
  func whatIsNotSeenIsRefused(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect(throws: OpaqueString.Unusable.disallowed(scalar)) { try prepare("a\(scalar)") }
    #expect(OpaqueString.Unusable.disallowed(scalar).description.contains("U+"))
  }

  /// The key of RFC 8489 §9.2.2 is that of the prepared text, however it was typed. The user is that of RFC 8489 appendix B.1.
  @Test func theKeyIsMadeOfWhatWasPrepared() throws {
    let realm = Array("example.org".utf8)
    let name = "マトリックス"
    let credentials = LongTermCredentials(
      username: try prepare(name), password: try prepare("TheMatrIX"))
    #expect(
      credentials.key(realm: realm) == Vectors.hex("e8ca7ad59d5eb0518e312911d2dab2a9"))
    // GA as KA and a mark of its own.
    let (one, two) = (
      LongTermCredentials(
        username: try prepare("\u{30AC}"), password: try prepare("na\u{EF}ve\u{3000}\u{C5}")),
      LongTermCredentials(
        username: try prepare("\u{30AB}\u{3099}"),
        password: try prepare("nai\u{308}ve \u{212B}"))
    )
    #expect(one.key(realm: realm) == two.key(realm: realm))
    #expect(one.userhash(realm: realm) == two.userhash(realm: realm))
  }
}
