/// What the OBU headers of one temporal unit tell (AV1 bitstream specification §5.3 to §5.9).
public struct AV1TemporalUnit: Sendable, Hashable {
  /// Whether a sequence header is there.
  public private(set) var hasSequenceHeader = false
  /// Whether decoding can start here: a sequence header, and a shown key frame behind it.
  public private(set) var isKeyFrame = false
  /// Frames and frame headers in it, all layers counted.
  public private(set) var frameCount = 0

  /// Reads the headers; nil where the bytes aren't a sequence of OBUs with their sizes (the last may leave its own out).
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count > 0 else { return nil }
    var offset = 0
    while offset < bytes.count {
      let header = bytes[offset]
      // The forbidden bit.
      guard header & 0x80 == 0 else { return nil }
      let type = header >> 3 & 15
      offset += header & 0x04 != 0 ? 2 : 1
      guard offset <= bytes.count else { return nil }
      var size = bytes.count - offset
      if header & 0x02 != 0 {
        guard let read = Self.leb128(bytes, &offset), read <= bytes.count - offset else {
          return nil
        }
        size = read
      }
      switch type {
      case 1: hasSequenceHeader = true
      case 3, 6:
        frameCount += 1
        // show_existing_frame, then frame_type, 0 for a key frame. A frame of a lower layer decides.
        if frameCount == 1, hasSequenceHeader, size > 0, bytes[offset] & 0xE0 == 0 {
          isKeyFrame = true
        }
      default: break
      }
      offset += size
    }
  }

  private static func leb128(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int? {
    var value = 0
    for index in 0..<8 {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      value |= Int(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return value <= Int(UInt32.max) ? value : nil }
    }
    return nil
  }
}
