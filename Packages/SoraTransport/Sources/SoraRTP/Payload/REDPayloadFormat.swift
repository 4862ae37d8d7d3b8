public import SoraMedia
import SoraWire

/// Redundant audio in RTP (RFC 2198) around packets of one codec, as `a=fmtp:63 111/111` declares it for Opus.
public struct REDPayloadFormat: RTPPayloadFormat {
  /// The payload type of the codec inside.
  public var primaryPayloadType: UInt8
  /// Packets before the newest that each payload repeats, 0...`REDPayload.maximumRedundancy`.
  public var redundancy: Int
  /// That of the codec inside, which RED takes over (RFC 2198 §3).
  public var clockRate: Int

  public init(primaryPayloadType: UInt8, redundancy: Int = 1, clockRate: Int = 48_000) {
    self.primaryPayloadType = primaryPayloadType
    self.redundancy = redundancy
    self.clockRate = clockRate
  }

  public var name: String { "red" }
  public var kind: MediaKind { .audio }

  public func makePayloader(random: RandomSource) -> any RTPPayloader {
    REDPayloader(primaryPayloadType: primaryPayloadType, redundancy: redundancy)
  }

  public func makeDepayloader() -> any RTPDepayloader { REDDepayloader() }
}

/// Puts each encoded packet into one payload together with those before it. Keeps references to their memory, copies them
/// into the payload only, and allocates nothing.
public final class REDPayloader: RTPPayloader {
  private struct Sent {
    var buffer: EncodedBuffer
    var timestamp: UInt32
  }

  /// The payload type of the codec inside.
  public var primaryPayloadType: UInt8
  /// Packets before the newest that a payload repeats. May change between frames, as the loss does.
  public var redundancy: Int {
    didSet { redundancy = Self.clamped(redundancy) }
  }

  /// The last packets, oldest first.
  private var history: [Sent] = []
  private var frame: EncodedFrame?
  /// Of `history`, those that the frame in work takes along.
  private var first = 0
  private var talkspurt = AudioTalkspurt(.opus)

  public init(primaryPayloadType: UInt8, redundancy: Int = 1) {
    self.primaryPayloadType = primaryPayloadType
    self.redundancy = Self.clamped(redundancy)
    history.reserveCapacity(REDPayload.maximumRedundancy + 1)
  }

  private static func clamped(_ count: Int) -> Int {
    max(0, min(count, REDPayload.maximumRedundancy))
  }

  public func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    self.frame = nil
    let size = frame.payload.count
    guard size > 0, size + REDPayload.primaryHeaderCount <= maximumPayload else { return 0 }
    if history.count > redundancy { history.removeFirst(history.count - redundancy) }
    // The newest of the old ones matter most: the oldest are left out where room or a field ends. A block that can't be
    // written ends the row, so that no receiver takes a gap for a short packet.
    var room = maximumPayload - size - REDPayload.primaryHeaderCount
    first = history.count
    while first > 0 {
      let old = history[first - 1]
      room -= REDPayload.redundantHeaderCount + old.buffer.count
      let offset = frame.rtpTimestamp &- old.timestamp
      guard room >= 0, old.buffer.count <= REDPayload.maximumBlockLength, offset > 0,
        offset <= REDPayload.maximumTimestampOffset
      else { break }
      first -= 1
    }
    self.frame = frame
    return 1
  }

  public func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let frame else { return nil }
    self.frame = nil
    let marker = talkspurt.marker(of: frame)
    var total = REDPayload.primaryHeaderCount + frame.payload.count
    for old in history[first...] { total += REDPayload.redundantHeaderCount + old.buffer.count }
    guard total <= target.count else { return nil }
    var offset = 0
    for old in history[first...] {
      _ = unsafe REDPayload.writeHeader(
        payloadType: primaryPayloadType, timestampOffset: frame.rtpTimestamp &- old.timestamp,
        length: old.buffer.count, into: target, at: offset)
      offset += REDPayload.redundantHeaderCount
    }
    unsafe target[offset] = primaryPayloadType & 0x7F
    offset += REDPayload.primaryHeaderCount
    for old in history[first...] {
      unsafe target.put(old.buffer.bytes, at: offset)
      offset += old.buffer.count
    }
    unsafe target.put(frame.payload.bytes, at: offset)
    if redundancy > 0 {
      if history.count >= redundancy { history.removeFirst(history.count - redundancy + 1) }
      history.append(Sent(buffer: frame.payload, timestamp: frame.rtpTimestamp))
    }
    return RTPPayloadPart(count: total, marker: marker)
  }
}

/// Understands RED payloads as far as the newest packet goes; use `REDPayload.Blocks` to take the others too.
public final class REDDepayloader: RTPDepayloader {
  public init() {}

  public func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    var primary = 0..<0
    unsafe try payload.withUnsafeBytes { bytes throws(RTPError) in
      for block in unsafe try REDPayload.Blocks(parsing: bytes) where block.isPrimary {
        primary = block.range
      }
    }
    guard !primary.isEmpty else { throw .malformedPayload(codec: "red") }
    var info = RTPPayloadInfo(range: primary)
    info.isFrameStart = true
    info.isFrameEnd = true
    info.isKeyFrame = true
    return info
  }
}
