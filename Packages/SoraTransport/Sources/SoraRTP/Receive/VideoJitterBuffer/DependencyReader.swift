import SoraWire

/// Reads the dependency descriptors of one incoming stream into what a jitter buffer wants to know of its packets.
struct DependencyReader {
  private var structure: DependencyDescriptor.Structure?
  /// The number of the frame that brought it.
  private var since: UInt16 = 0

  /// Completes what the payload's format knows of a packet. False where the descriptor can't be read, as before the first
  /// structure.
  mutating func read(_ bytes: RawSpan, into info: inout RTPPayloadInfo) -> Bool {
    // The first fields can always be read: a packet of a key frame may come before the one with the structure.
    if bytes.byteCount >= 3, bytes.u8(0) & 0x80 != 0 {
      info.dependencies = FrameDependencies(number: bytes.u16(1))
    }
    guard let descriptor = try? DependencyDescriptor(parsing: bytes, structure: structure) else {
      return false
    }
    if let new = descriptor.structure {
      // A late packet may bring an old one.
      guard structure == nil || Int16(bitPattern: descriptor.frameNumber &- since) >= 0 else {
        return false
      }
      structure = new
      since = descriptor.frameNumber
    } else if Int16(bitPattern: descriptor.frameNumber &- since) < 0 {
      // Of frames before the structure, whose templates were others.
      return false
    }
    let frame = descriptor.frame
    info.temporalLayer = UInt8(clamping: frame.temporalLayer)
    info.spatialLayer = UInt8(clamping: frame.spatialLayer)
    guard descriptor.isFrameStart else {
      info.isFrameStart = false
      info.mayBeFrameStart = false
      info.isKeyFrame = false
      return true
    }
    info.dependencies = FrameDependencies(
      number: descriptor.frameNumber, differences: frame.frameDifferences)
    // Lower layers of the picture may have been left out on the way.
    info.mayBeFrameStart = true
    info.isFrameStart = frame.spatialLayer == 0
    info.isKeyFrame = info.isFrameStart && frame.frameDifferences.isEmpty
    if let size = structure?.resolutions.last, info.isKeyFrame {
      info.width = size.width
      info.height = size.height
    }
    return true
  }
}
