public import SoraMedia

/// One of the two laws of ITU-T G.711 (11/1988), by which 8 bits stand for a sample.
///
/// Both are eight segments of sixteen equal steps on each side of zero, each segment's steps twice as wide as those of the one before (tables
/// 1a to 2b of the recommendation). Samples here have 16 bits: the recommendation's 14 (µ-law) or 13 (A-law) in the upper ones.
public enum G711Law: Sendable, Hashable, CaseIterable {
  case mu
  case a

  /// The law of a codec; nil for codecs of other kinds.
  public init?(_ kind: AudioCodecKind) {
    switch kind {
    case .opus: return nil
    case .pcmu: self = .mu
    case .pcma: self = .a
    }
  }

  /// The codec of the law.
  public var kind: AudioCodecKind { self == .mu ? .pcmu : .pcma }

  /// The bits that lines carry turned over: all of µ-law's, every second of A-law's (table 2a, note 2).
  private var inversion: UInt8 { self == .mu ? 0xFF : 0x55 }

  /// The octet of a sample.
  public func encode(_ sample: Int16) -> UInt8 {
    switch self {
    case .mu: encodeMu(sample)
    case .a: encodeA(sample)
    }
  }

  /// The sample of an octet.
  public func decode(_ octet: UInt8) -> Int16 {
    switch self {
    case .mu: decodeMu(octet)
    case .a: decodeA(octet)
    }
  }

  // µ-law: with 33 added, of 14 bits, a segment begins at each power of two (table 2a).
  private static let bias = 33 << 2
  private static let largest = 32_767 - bias

  private func encodeMu(_ sample: Int16) -> UInt8 {
    // The signs mirror each other: -1 is the first value below zero.
    let isNegative = sample < 0
    let magnitude = min(isNegative ? -1 - Int(sample) : Int(sample), Self.largest) + Self.bias
    // 132 to 32,767: the highest bit is one of 7 to 14.
    let segment = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
    let step = (magnitude >> (segment + 3)) & 0xF
    let value = UInt8(segment << 4 | step) | (isNegative ? 0x80 : 0)
    return value ^ inversion
  }

  private func decodeMu(_ octet: UInt8) -> Int16 {
    let value = octet ^ inversion
    let segment = Int(value >> 4) & 7
    let step = Int(value & 0xF)
    // The middle of the step.
    let magnitude = ((step << 3) + Self.bias) << segment - Self.bias
    return Int16(value & 0x80 == 0 ? magnitude : -magnitude)
  }

  // A-law: the first two segments have the same steps (table 1a).
  private func encodeA(_ sample: Int16) -> UInt8 {
    let isNegative = sample < 0
    // Of 11 bits: 16 and more begin with a one, and a segment begins at each power of two.
    let magnitude = (isNegative ? -1 - Int(sample) : Int(sample)) >> 4
    let segment = magnitude < 16 ? 0 : Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 3
    let step = (magnitude >> max(0, segment - 1)) & 0xF
    let value = UInt8(segment << 4 | step) | (isNegative ? 0 : 0x80)
    return value ^ inversion
  }

  private func decodeA(_ octet: UInt8) -> Int16 {
    let value = octet ^ inversion
    let segment = Int(value >> 4) & 7
    let step = Int(value & 0xF)
    // The middle of the step; from the second segment on with the bit that the segment stands for.
    var magnitude = step << 4 + 8
    if segment > 0 { magnitude = (magnitude + 0x100) << (segment - 1) }
    return Int16(value & 0x80 == 0 ? -magnitude : magnitude)
  }
}
