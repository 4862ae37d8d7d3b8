package import SoraMedia
package import SoraSDP

/// Names and numbers that we make up: of our sources, tracks and layers. Each SSRC is given once.
package struct LocalIdentifiers {
  /// The CNAME of all our sources (RFC 8834 §4.9).
  package let cname: String
  private let random: RandomSource
  private var usedSSRCs: Set<UInt32> = []

  package init(random: RandomSource) {
    self.random = random
    cname = random.iceString(16)
  }

  /// A new, unused SSRC (RFC 3550 §8). 0 is left out because tools take it for "none".
  package mutating func makeSSRC() -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: random.next())
      if ssrc != 0, usedSSRCs.insert(ssrc).inserted { return ssrc }
    }
  }

  /// An encoding with sources of its own.
  mutating func makeEncoding(rid: String?) -> SendEncoding {
    SendEncoding(
      rid: rid, isActive: true, ssrc: makeSSRC(), rtxSSRC: makeSSRC(), repairSSRC: nil)
  }

  /// A random id in the form of a UUID (RFC 9562 §5.4).
  package func makeID() -> String {
    var bytes = random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The `o=` lines of our descriptions: one session, and a higher version each time (RFC 9429 §5.2.1, §5.2.2).
package struct SessionOrigin {
  private let sessionID: String
  private var version: UInt64 = 1

  package init(random: RandomSource) {
    // 62 random bits, so that the number stays positive in 64.
    sessionID = "\(random.next() >> 2)"
  }

  /// The line of the next description.
  package mutating func next() -> SDPOrigin {
    version += 1
    return SDPOrigin(sessionID: sessionID, version: version)
  }
}
