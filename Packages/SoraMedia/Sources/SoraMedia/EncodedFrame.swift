/// Bytes of one compressed frame: written once by whoever makes the frame, then shared and only read.
public final class EncodedBuffer: @unchecked Sendable {
  // @unchecked: `storage` and `count` are written only through `append` and `reset`, which the single creator
  // calls before it hands the buffer on; after that everybody only reads.

  private var storage: UnsafeMutableRawPointer
  /// Bytes reserved.
  public private(set) var capacity: Int
  /// Bytes written.
  public private(set) var count: Int

  /// An empty buffer with room for `capacity` bytes.
  public init(capacity: Int) {
    self.capacity = max(64, capacity)
    count = 0
    storage = .allocate(byteCount: self.capacity, alignment: 16)
  }

  /// A buffer that holds a copy of `bytes`.
  public convenience init(_ bytes: UnsafeRawBufferPointer) {
    self.init(capacity: bytes.count)
    append(bytes)
  }

  /// A buffer that holds a copy of `bytes`.
  public convenience init(_ bytes: [UInt8]) {
    self.init(capacity: bytes.count)
    bytes.withUnsafeBytes { append($0) }
  }

  deinit { storage.deallocate() }

  /// Appends a copy of `bytes`, growing when needed. Only for the creator, before the buffer is shared.
  public func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if count + bytes.count > capacity {
      let grown = max(capacity * 2, count + bytes.count)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
      larger.copyMemory(from: storage, byteCount: count)
      storage.deallocate()
      storage = larger
      capacity = grown
    }
    (storage + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Forgets the content and keeps the memory. Only for a creator that holds the sole reference.
  public func reset() { count = 0 }

  /// The bytes. Valid while the buffer is alive.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }
}

/// One compressed video picture or one packet of compressed audio.
public struct EncodedFrame: Sendable {
  public var payload: EncodedBuffer
  /// Whether a decoder can start here. Always true for audio.
  public var isKeyFrame: Bool
  /// Media time in units of the codec's RTP clock (90 kHz for video, 48 kHz for Opus), before any random offset.
  public var rtpTimestamp: UInt32
  /// When the picture or the first sample was captured (senders), or is due to be shown (receivers).
  public var timestamp: Instant
  /// Size in pixels; 0 where it is not known (audio, and frames that were received).
  public var width: Int
  public var height: Int
  public var rotation: VideoRotation
  /// Temporal layer, 0 is the base.
  public var temporalLayer: Int

  public init(
    payload: EncodedBuffer, isKeyFrame: Bool, rtpTimestamp: UInt32, timestamp: Instant, width: Int = 0,
    height: Int = 0, rotation: VideoRotation = .none, temporalLayer: Int = 0
  ) {
    self.payload = payload
    self.isKeyFrame = isKeyFrame
    self.rtpTimestamp = rtpTimestamp
    self.timestamp = timestamp
    self.width = width
    self.height = height
    self.rotation = rotation
    self.temporalLayer = temporalLayer
  }
}

/// Audio or video, with the names that SDP uses.
public enum MediaKind: String, Sendable, Hashable {
  case audio
  case video
}
