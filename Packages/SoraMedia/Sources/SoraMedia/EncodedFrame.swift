/// Bytes of one compressed frame: written once by whoever makes the frame, then shared and only read.
@safe public final class EncodedBuffer: @unchecked Sendable {
  // @unchecked: `storage`, `count` and `mark` are written only by the single creator, before it hands the buffer
  // on; after that everybody only reads.

  private var storage: UnsafeMutableRawPointer
  /// Bytes reserved.
  public private(set) var capacity: Int
  /// Bytes written.
  public private(set) var count: Int

  /// An empty buffer with room for `capacity` bytes.
  public init(capacity: Int) {
    self.capacity = max(64, capacity)
    count = 0
    unsafe storage = .allocate(byteCount: self.capacity, alignment: 16)
  }

  /// A buffer that holds a copy of `bytes`.
  public convenience init(_ bytes: UnsafeRawBufferPointer) {
    self.init(capacity: bytes.count)
    unsafe append(bytes)
  }

  /// A buffer that holds a copy of `bytes`.
  public convenience init(_ bytes: [UInt8]) {
    self.init(capacity: bytes.count)
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  deinit { unsafe storage.deallocate() }

  /// Appends a copy of `bytes`, growing when needed. Only for the creator, before the buffer is shared.
  public func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if count + bytes.count > capacity {
      let grown = max(capacity * 2, count + bytes.count)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
      unsafe larger.copyMemory(from: storage, byteCount: count)
      unsafe storage.deallocate()
      unsafe storage = unsafe larger
      capacity = grown
    }
    unsafe (storage + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// A position that the creator notes between two appends, such as where an element begins whose length is to be
  /// written later. 0 at first.
  public var mark = 0

  /// Replaces bytes that have been written, from `offset` on. Only for the creator, before the buffer is shared.
  public func replace(at offset: Int, with bytes: UnsafeRawBufferPointer) {
    precondition(offset >= 0 && offset <= count && bytes.count <= count - offset)
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    unsafe (storage + offset).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Forgets the content and keeps the memory. Only for a creator that holds the sole reference.
  public func reset() {
    count = 0
    mark = 0
  }

  /// The bytes, lent for as long as the buffer is held.
  public var span: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self) }
  }

  /// Appends a copy of `bytes`, as the pointer's form does.
  public func append(_ bytes: RawSpan) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

  /// Replaces bytes that have been written, as the pointer's form does.
  public func replace(at offset: Int, with bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe replace(at: offset, with: $0) }
  }

  /// The bytes. Valid while the buffer is alive.
  public var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: storage, count: count)
  }
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
  /// What the frame is among the layers of its stream; the default says that it is a stream of one layer.
  public var layers: EncodedFrameLayers

  public init(
    payload: EncodedBuffer, isKeyFrame: Bool, rtpTimestamp: UInt32, timestamp: Instant,
    width: Int = 0,
    height: Int = 0, rotation: VideoRotation = .none, temporalLayer: Int = 0,
    layers: EncodedFrameLayers = EncodedFrameLayers()
  ) {
    self.payload = payload
    self.isKeyFrame = isKeyFrame
    self.rtpTimestamp = rtpTimestamp
    self.timestamp = timestamp
    self.width = width
    self.height = height
    self.rotation = rotation
    self.temporalLayer = temporalLayer
    self.layers = layers
  }
}

/// Audio or video, with the names that SDP uses.
public enum MediaKind: String, Sendable, Hashable {
  case audio
  case video
}
