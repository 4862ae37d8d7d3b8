/// The start of a VP9 frame, uncompressed (VP9 bitstream specification §6.2 and §7.2).
public struct VP9FrameHeader: Sendable, Hashable {
  /// 0 to 3. Profile 0 is 8 bits a sample and 4:2:0, profile 2 is 10 or 12 bits and 4:2:0.
  public let profile: Int
  /// The frame shows an earlier one again and carries nothing else.
  public let showsExistingFrame: Bool
  public let isKeyFrame: Bool
  /// Whether the frame refers to no other, although it isn't a key frame.
  public let isIntraOnly: Bool
  public let isShown: Bool
  /// Bits of a sample; 0 where the frame doesn't say it (those that aren't key frames, profiles 1 and 3).
  public let bitDepth: Int
  /// Pixels; 0 where the frame doesn't say them (as with `bitDepth`).
  public let width: Int
  public let height: Int

  /// Reads the header; nil where the bytes can't be the start of a VP9 frame.
  public init?(_ bytes: Span<UInt8>) {
    var bits = BitCursor()
    guard bits.read(2, bytes) == 2 else { return nil }
    let low = bits.read(1, bytes)
    profile = Int(bits.read(1, bytes) << 1 | low)
    if profile == 3, bits.read(1, bytes) != 0 { return nil }
    showsExistingFrame = bits.read(1, bytes) == 1
    if showsExistingFrame {
      isKeyFrame = false
      isIntraOnly = false
      isShown = true
      bitDepth = 0
      width = 0
      height = 0
      guard !bits.isExhausted else { return nil }
      return
    }
    isKeyFrame = bits.read(1, bytes) == 0
    isShown = bits.read(1, bytes) == 1
    let isErrorResilient = bits.read(1, bytes) == 1
    guard isKeyFrame else {
      isIntraOnly = !isShown && bits.read(1, bytes) == 1
      _ = isErrorResilient
      bitDepth = 0
      width = 0
      height = 0
      guard !bits.isExhausted else { return nil }
      return
    }
    isIntraOnly = false
    guard bits.read(24, bytes) == 0x49_83_42 else { return nil }
    guard profile == 0 || profile == 2 else {
      bitDepth = 0
      width = 0
      height = 0
      return
    }
    bitDepth = profile == 0 ? 8 : bits.read(1, bytes) == 0 ? 10 : 12
    let colorSpace = bits.read(3, bytes)
    // RGB takes profile 1 or 3.
    guard colorSpace != 7 else { return nil }
    _ = bits.read(1, bytes)
    width = Int(bits.read(16, bytes)) + 1
    height = Int(bits.read(16, bytes)) + 1
    guard !bits.isExhausted else { return nil }
  }
}

/// A place among bits that are read most significant first. Beyond the end it reads zeros and says so.
struct BitCursor {
  private var position = 0
  private(set) var isExhausted = false

  /// The next `count` bits, 0 to 32.
  mutating func read(_ count: Int, _ bytes: Span<UInt8>) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      var bit: UInt32 = 0
      if position >> 3 < bytes.count {
        bit = UInt32(bytes[position >> 3] >> (7 - UInt8(position & 7))) & 1
      } else {
        isExhausted = true
      }
      value = value << 1 | bit
      position += 1
    }
    return value
  }
}
