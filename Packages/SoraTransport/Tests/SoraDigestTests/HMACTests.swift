import SoraDigest
import Testing

/// HMAC over each digest.
@Suite struct HMACTests {
  private typealias Function = (RawSpan, RawSpan, inout MutableRawSpan) -> Void

  private func code(_ count: Int, _ function: Function, _ message: [UInt8], key: [UInt8]) -> String
  {
    var code = [UInt8](repeating: 0, count: count)
    var span = code.mutableSpan
    var bytes = span.mutableBytes
    function(message.span.bytes, key.span.bytes, &bytes)
    return hexadecimal(code)
  }

  private func sha1(_ message: [UInt8], key: [UInt8]) -> String {
    code(20, { HMAC.sha1($0, key: $1, into: &$2) }, message, key: key)
  }

  private func sha256(_ message: [UInt8], key: [UInt8]) -> String {
    code(32, { HMAC.sha256($0, key: $1, into: &$2) }, message, key: key)
  }

  private func sha384(_ message: [UInt8], key: [UInt8]) -> String {
    code(48, { HMAC.sha384($0, key: $1, into: &$2) }, message, key: key)
  }

  /// RFC 2202 §3: cases 1, 2, 6 (a key longer than a block) and none of a key.
  @Test func sha1IsThatOfRFC2202() {
    #expect(
      sha1(Array("Hi There".utf8), key: [UInt8](repeating: 0x0B, count: 20))
        == "b617318655057264e28bc0b6fb378c8ef146be00")
    #expect(
      sha1(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    #expect(
      sha1(
        Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        key: [UInt8](repeating: 0xAA, count: 80)) == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
    // Of nothing with no key, as `openssl dgst -sha1 -hmac ''` has it.
    #expect(sha1([], key: []) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
  }

  /// RFC 4231 §4.2, §4.3 and §4.7.
  @Test func sha256AndSHA384AreThoseOfRFC4231() {
    let first = (Array("Hi There".utf8), [UInt8](repeating: 0x0B, count: 20))
    #expect(
      sha256(first.0, key: first.1)
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      sha384(first.0, key: first.1)
        == "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
        + "faea9ea9076ede7f4af152e8b2fa9cb6")
    let second = (Array("what do ya want for nothing?".utf8), Array("Jefe".utf8))
    #expect(
      sha256(second.0, key: second.1)
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      sha384(second.0, key: second.1)
        == "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
        + "8e2240ca5e69e2c78b3239ecfab21649")
    let long = (
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      [UInt8](repeating: 0xAA, count: 131)
    )
    #expect(
      sha256(long.0, key: long.1)
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    #expect(
      sha384(long.0, key: long.1)
        == "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c6"
        + "0c2ef6ab4030fe8296248df163f44952")
  }

  /// One key for many messages, the last four bytes of one as a word.
  @Test func aKeyedOneGivesTheSame() {
    let key = Array("Jefe".utf8)
    let keyed = HMACSHA1(key: key)
    for (text, suffix) in [
      ("what do ya want for nothing?", nil), ("Hi T", 0x6865_7265), ("once more", nil as UInt32?),
    ] {
      let message = Array(text.utf8)
      var digest = [UInt8](repeating: 0, count: 20)
      digest.withUnsafeMutableBytes { digest in
        message.withUnsafeBytes {
          keyed.authenticate(
            $0.baseAddress!, count: $0.count, suffix: suffix, into: digest.baseAddress!)
        }
      }
      let word = suffix.map { word in (0..<4).map { UInt8(word >> (24 - 8 * $0) & 255) } } ?? []
      #expect(hexadecimal(digest) == sha1(message + word, key: key))
    }
  }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
}
