import SoraMedia

/// Texts that name things, made of the randomness that is handed in.
enum SFUIdentifier {
  /// Crockford's Base32: no I, L, O and U.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  /// 26 characters that hold 128 random bits, as connections and sessions are named.
  static func make(_ random: RandomSource) -> String {
    let (high, low) = (random.next(), random.next())
    var result: [UInt8] = []
    // 130 bits in steps of five from the top; the first character holds only three.
    for index in 0..<26 {
      let shift = 125 - 5 * index
      let bits: UInt64
      if shift >= 64 {
        bits = high >> UInt64(shift - 64)
      } else if shift > 59 {
        bits = high << UInt64(64 - shift) | low >> UInt64(shift)
      } else {
        bits = low >> UInt64(shift)
      }
      result.append(alphabet[Int(bits & 31)])
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// `audio_x1y2z3`: short, because it rides in RTP packets (at most 16 bytes fit the one-byte extension form).
  static func makeMid(_ kind: MediaKind, _ random: RandomSource) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz012345".utf8)
    var word = random.next()
    var text: [UInt8] = []
    for _ in 0..<6 {
      text.append(letters[Int(word & 31)])
      word >>= 5
    }
    return kind.rawValue + "_" + String(decoding: text, as: UTF8.self)
  }
}
