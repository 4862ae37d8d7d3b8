/// Facts that can be read from an Opus packet without decoding it (RFC 6716 §3).
public enum OpusPacket {
  /// Samples of each channel at 48 kHz; nil if the bytes can't be an Opus packet.
  public static func sampleCount(_ packet: RawSpan) -> Int? {
    guard packet.byteCount > 0 else { return nil }
    let perFrame = samplesPerFrame(packet.u8(0))
    let frames: Int
    // RFC 6716 §3.1: the two low bits of the first byte say how many frames follow.
    switch packet.u8(0) & 3 {
    case 0: frames = 1
    case 1, 2: frames = 2
    default:
      guard packet.byteCount > 1 else { return nil }
      frames = Int(packet.u8(1) & 0x3F)
    }
    // [R5] at most 120 ms, at least one frame.
    guard frames > 0, frames * perFrame <= 5_760 else { return nil }
    return frames * perFrame
  }

  /// Samples of one frame at 48 kHz, from the packet's first byte (RFC 6716 §3.1, table 2).
  public static func samplesPerFrame(_ toc: UInt8) -> Int {
    let configuration = Int(toc >> 3)
    switch configuration {
    case 0..<12: return configuration & 3 == 3 ? 2_880 : 480 << (configuration & 3)
    case 12..<16: return configuration & 1 == 0 ? 480 : 960
    default: return 120 << (configuration & 3)
    }
  }

  /// The layers of the codec that made a packet (RFC 6716 §2).
  public enum Mode: Sendable, Hashable {
    /// Speech, up to 8 kHz of audio.
    case silk
    /// Speech below 8 kHz, the rest above.
    case hybrid
    /// Music and low delay.
    case celt
  }

  /// From the packet's first byte (RFC 6716 §3.1, table 2).
  public static func mode(_ toc: UInt8) -> Mode {
    switch toc >> 3 {
    case 0..<12: .silk
    case 12..<16: .hybrid
    default: .celt
    }
  }

  /// 1 or 2, from the packet's first byte (RFC 6716 §3.1). A decoder of either count plays both.
  public static func channels(_ toc: UInt8) -> Int { toc & 4 == 0 ? 1 : 2 }

  /// Whether the packet says nothing but "still silent": a bare header, which discontinuous transmission sends.
  public static func isSilence(_ packet: RawSpan) -> Bool { packet.byteCount <= 2 }

  /// Samples of each channel that the packet carries again for the packet before it (in-band FEC); 0 for none.
  ///
  /// RFC 6716 §4.2.3: a SILK frame starts with one bit of voice activity for each 20 ms of each channel, followed by
  /// that channel's bit for redundancy.
  public static func redundantSampleCount(_ packet: RawSpan) -> Int {
    guard let total = sampleCount(packet), packet.byteCount > 2 else { return 0 }
    let toc = packet.u8(0)
    // CELT alone (configurations 16 and up) has no redundancy.
    guard toc >> 3 < 16, let first = firstFrameByte(packet) else { return 0 }
    let perFrame = samplesPerFrame(toc)
    let activityBits = max(1, perFrame / 960)
    var isRedundant = first & (0x80 >> activityBits) != 0
    if toc & 4 != 0 { isRedundant = isRedundant || first & (0x80 >> (2 * activityBits + 1)) != 0 }
    return isRedundant ? min(perFrame, total) : 0
  }

  /// The first byte of the first frame; nil if that frame is empty or the packet is too short.
  private static func firstFrameByte(_ packet: RawSpan) -> UInt8? {
    var offset = 1
    switch packet.u8(0) & 3 {
    case 0, 1: break
    case 2:
      // RFC 6716 §3.2.1: sizes from 252 up take two bytes.
      guard packet.byteCount > 1, packet.u8(1) != 0 else { return nil }
      offset += packet.u8(1) >= 252 ? 2 : 1
    default:
      guard packet.byteCount > 1 else { return nil }
      let count = packet.u8(1)
      offset = 2
      if count & 0x40 != 0 {
        // RFC 6716 §3.2.5: padding lengths, 255 goes on.
        while offset < packet.byteCount, packet.u8(offset) == 255 { offset += 1 }
        offset += 1
      }
      if count & 0x80 != 0 {
        for index in 0..<max(0, Int(count & 0x3F) - 1) {
          guard offset < packet.byteCount else { return nil }
          if index == 0, packet.u8(offset) == 0 { return nil }
          offset += packet.u8(offset) >= 252 ? 2 : 1
        }
      }
    }
    return offset < packet.byteCount ? packet.u8(offset) : nil
  }
}
