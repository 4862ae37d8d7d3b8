public import SoraMedia
import SoraWire

/// VP8 in RTP (RFC 7741).
public struct VP8PayloadFormat: RTPPayloadFormat {
  public init() {}
  public var name: String { "VP8" }
  public var kind: MediaKind { .video }
  public var clockRate: Int { 90_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader {
    VP8Payloader(random: random)
  }

  public func makeDepayloader() -> any RTPDepayloader { VP8Depayloader() }
}

/// Cuts VP8 frames into payloads of nearly equal size, so that no frame ends in a tiny packet.
public final class VP8Payloader: RTPPayloader {
  /// Whether TL0PICIDX and TID are written. Set it before the first frame of an encoder with temporal layers.
  public var hasTemporalLayers: Bool

  private var pictureID: UInt16
  private var baseLayerIndex: UInt8
  private var descriptor = VP8Descriptor()
  private var buffer: EncodedBuffer?
  private var offset = 0
  private var partsLeft = 0

  /// The picture id and TL0PICIDX start at random (RFC 7741 §4.2 recommends it for the former).
  public init(random: RandomSource, hasTemporalLayers: Bool = false) {
    let word = random.next()
    pictureID = UInt16(truncatingIfNeeded: word) & 0x7FFF
    baseLayerIndex = UInt8(truncatingIfNeeded: word >> 16)
    self.hasTemporalLayers = hasTemporalLayers
  }

  public func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    let size = frame.payload.count
    if frame.temporalLayer > 0 || frame.layers.temporalLayerCount > 1 { hasTemporalLayers = true }
    pictureID = (pictureID &+ 1) & 0x7FFF
    descriptor = VP8Descriptor()
    descriptor.pictureID = pictureID
    descriptor.isPartitionStart = true
    descriptor.isNonReference = !frame.layers.isReferenced
    if hasTemporalLayers {
      if frame.temporalLayer == 0 { baseLayerIndex &+= 1 }
      descriptor.baseLayerIndex = baseLayerIndex
      descriptor.temporalLayer = UInt8(clamping: min(3, frame.temporalLayer))
      descriptor.isLayerSync = frame.layers.isLayerSync
    }
    let room = maximumPayload - descriptor.byteCount
    guard size > 0, room > 0 else {
      buffer = nil
      partsLeft = 0
      return 0
    }
    buffer = frame.payload
    offset = 0
    partsLeft = (size + room - 1) / room
    return partsLeft
  }

  public func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard partsLeft > 0, let buffer else { return nil }
    // What is left is shared evenly: sizes differ by one byte at most.
    let count = (buffer.count - offset) / partsLeft
    let header = descriptor.byteCount
    guard target.count >= header + count, unsafe (try? descriptor.write(into: target)) != nil else {
      return nil
    }
    unsafe target.put(buffer.bytes.part(offset, count), at: header)
    offset += count
    partsLeft -= 1
    descriptor.isPartitionStart = false
    let isLast = partsLeft == 0
    if isLast { self.buffer = nil }
    return RTPPayloadPart(count: header + count, marker: isLast)
  }
}

/// Understands VP8 payloads.
public final class VP8Depayloader: RTPDepayloader {
  public init() {}

  public func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    var count = 0
    let descriptor = try VP8Descriptor(parsing: payload, count: &count)
    guard payload.byteCount > count else { throw .malformedPayload(codec: "VP8") }
    var info = RTPPayloadInfo(range: count..<payload.byteCount)
    // RFC 7741 §4.2: S with PID 0 begins a frame.
    info.isFrameStart = descriptor.isPartitionStart && descriptor.partitionID == 0
    info.isFrameEnd = marker
    info.pictureID = descriptor.pictureID
    info.baseLayerIndex = descriptor.baseLayerIndex
    info.temporalLayer = descriptor.temporalLayer ?? 0
    info.isLayerSync = descriptor.isLayerSync
    if info.isFrameStart {
      let media = payload.part(count, payload.byteCount - count)
      info.isKeyFrame = VP8FrameHeader.isKeyFrame(media)
      if info.isKeyFrame, let size = VP8FrameHeader.keyFrameSize(media) {
        info.width = size.width
        info.height = size.height
      }
    }
    return info
  }
}
