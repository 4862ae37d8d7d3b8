/// The start of a VP8 frame, uncompressed (RFC 6386 §9.1).
public struct VP8FrameHeader: Sendable, Hashable {
  public let isKeyFrame: Bool
  /// Bitstream version, 0 to 3. Others are reserved.
  public let version: UInt8
  /// Whether the picture is to be shown.
  public let isShown: Bool
  /// Bytes of the first partition.
  public let firstPartitionSize: Int
  /// Pixels; 0 for frames that aren't key frames.
  public let width: Int
  public let height: Int

  /// Reads the header; nil where the bytes can't be the start of a VP8 frame.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 3 else { return nil }
    let tag = UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16
    isKeyFrame = tag & 1 == 0
    version = UInt8(tag >> 1 & 7)
    isShown = tag >> 4 & 1 == 1
    firstPartitionSize = Int(tag >> 5)
    guard version <= 3 else { return nil }
    guard isKeyFrame else {
      width = 0
      height = 0
      return
    }
    guard bytes.count >= 10, bytes[3] == 0x9D, bytes[4] == 0x01,
      bytes[5] == 0x2A
    else {
      return nil
    }
    // The two bits above each size ask for upscaling, which no sender of calls uses and libvpx ignores.
    width = Int(UInt16(bytes[6]) | UInt16(bytes[7]) << 8) & 0x3FFF
    height = Int(UInt16(bytes[8]) | UInt16(bytes[9]) << 8) & 0x3FFF
    guard width > 0, height > 0 else { return nil }
  }
}
