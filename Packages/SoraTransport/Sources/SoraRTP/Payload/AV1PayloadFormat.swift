public import SoraMedia
import SoraWire

/// AV1 in RTP (RTP Payload Format For AV1, version 1.0).
///
/// Frames are temporal units whose OBUs carry their sizes. The temporal delimiter is left out when sending and put back when
/// receiving.
public struct AV1PayloadFormat: RTPPayloadFormat {
  public init() {}
  public var name: String { "AV1" }
  public var kind: MediaKind { .video }
  public var clockRate: Int { 90_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader { AV1Payloader() }
  public func makeDepayloader() -> any RTPDepayloader { AV1Depayloader() }
}

/// Understands AV1 payloads, and writes the units' sizes back.
public final class AV1Depayloader: RTPDepayloader {
  /// Bytes that the size of a unit in several packets takes, whatever it is.
  private static let sizeCount = 4
  /// `EncodedBuffer.mark` while a unit is open that is to be left out, or that came with a size of its own.
  private static let skipped = -1
  private static let verbatim = -2

  public init() {}

  public func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    guard payload.byteCount >= 2 else { throw .truncated(needed: 2, available: payload.byteCount) }
    let header = AV1AggregationHeader(payload.u8(0))
    // A sequence can't begin in the middle of a unit.
    guard !(header.startsSequence && header.isContinuation) else {
      throw .malformedPayload(codec: "AV1")
    }
    var info = RTPPayloadInfo(range: 1..<payload.byteCount)
    var elements = Elements(payload, header)
    while let element = elements.next() {
      guard !(elements.index == 1 && header.isContinuation) else { continue }
      guard !element.isEmpty else { continue }
      let first = payload.u8(element.lowerBound)
      guard first & 0x80 == 0 else { throw .malformedPayload(codec: "AV1") }
      if first & AV1OBU.extensionFlag != 0, element.count > 1 {
        info.temporalLayer = max(info.temporalLayer, payload.u8(element.lowerBound + 1) >> 5)
        info.spatialLayer = max(info.spatialLayer, payload.u8(element.lowerBound + 1) >> 3 & 3)
      }
      if AV1OBU.type(first) == AV1OBU.sequenceHeader {
        // Senders that don't set N are known; units before a sequence header don't travel.
        info.isKeyFrame = true
        var offset = element.lowerBound + (first & AV1OBU.extensionFlag != 0 ? 2 : 1)
        if first & AV1OBU.sizeFlag != 0, offset <= element.upperBound {
          var reader = ByteReader(payload.part(from: offset))
          _ = reader.leb128()
          offset += reader.offset
        }
        if offset <= element.upperBound,
          let size = AV1SequenceHeader(payload.part(offset, element.upperBound - offset))
        {
          info.width = size.width
          info.height = size.height
        }
      }
    }
    guard !elements.isMalformed else { throw .malformedPayload(codec: "AV1") }
    if header.startsSequence { info.isKeyFrame = true }
    info.isFrameStart = info.isKeyFrame && !header.isContinuation
    info.mayBeFrameStart = !header.isContinuation
    info.isKeyFrame = info.isFrameStart
    info.isFrameEnd = marker
    return info
  }

  public func append(
    _ payload: RawSpan, info: RTPPayloadInfo, to frame: EncodedBuffer
  ) {
    guard payload.byteCount >= 2 else { return }
    let header = AV1AggregationHeader(payload.u8(0))
    if frame.count == 0 { put([0x12, 0x00], to: frame) }
    var elements = Elements(payload, header)
    while let element = elements.next() {
      let isFirst = elements.index == 1
      let isOpen = elements.isLast && header.continues
      let bytes = payload.part(element.lowerBound, element.count)
      if isFirst, header.isContinuation {
        proceed(bytes, in: frame)
      } else {
        start(bytes, isOpen: isOpen, in: frame)
      }
      if !isOpen { frame.mark = 0 }
    }
  }

  /// More of the unit that is open.
  private func proceed(_ bytes: RawSpan, in frame: EncodedBuffer) {
    switch frame.mark {
    // Without its beginning it is of no use.
    case 0, Self.skipped: return
    case Self.verbatim: frame.append(bytes)
    default:
      frame.append(bytes)
      let size = frame.count - frame.mark - Self.sizeCount
      guard frame.mark > 0, size >= 0, size < 1 << 28 else { return }
      put(Self.padded(size), at: frame.mark, in: frame)
    }
  }

  private func start(_ bytes: RawSpan, isOpen: Bool, in frame: EncodedBuffer) {
    frame.mark = Self.skipped
    guard bytes.byteCount > 0, AV1OBU.isSent(AV1OBU.type(bytes.u8(0))) else { return }
    if bytes.u8(0) & AV1OBU.sizeFlag != 0 {
      frame.mark = Self.verbatim
      frame.append(bytes)
      return
    }
    let headerCount = bytes.u8(0) & AV1OBU.extensionFlag != 0 ? 2 : 1
    guard bytes.byteCount >= headerCount else { return }
    put([bytes.u8(0) | AV1OBU.sizeFlag], to: frame)
    frame.append(bytes.part(1, headerCount - 1))
    let size = bytes.byteCount - headerCount
    if isOpen {
      frame.mark = frame.count
      put(Self.padded(size), to: frame)
    } else {
      var rest = size
      repeat {
        put([UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0)], to: frame)
        rest >>= 7
      } while rest > 0
    }
    frame.append(bytes.part(headerCount, size))
  }

  /// leb128 may be longer than need be (AV1 bitstream specification §4.10.5), so a size can be written in advance.
  private static func padded(_ size: Int) -> InlineArray<4, UInt8> {
    [
      UInt8(size & 0x7F) | 0x80, UInt8(size >> 7 & 0x7F) | 0x80, UInt8(size >> 14 & 0x7F) | 0x80,
      UInt8(size >> 21 & 0x7F),
    ]
  }

  private func put<let count: Int>(_ bytes: InlineArray<count, UInt8>, to frame: EncodedBuffer) {
    frame.append(bytes.rawSpan)
  }

  private func put(_ bytes: InlineArray<4, UInt8>, at offset: Int, in frame: EncodedBuffer) {
    frame.replace(at: offset, with: bytes.rawSpan)
  }

  /// The OBU elements of a payload, one after the other.
  private struct Elements: ~Escapable {
    private let payload: RawSpan
    private let count: Int
    private var offset = 1
    /// Elements that `next` has returned.
    private(set) var index = 0
    private(set) var isMalformed = false

    @_lifetime(copy payload)
    init(_ payload: RawSpan, _ header: AV1AggregationHeader) {
      self.payload = payload
      count = Int(header.elementCount)
    }

    /// Whether the element that `next` returned is the last one.
    var isLast: Bool { offset >= payload.byteCount }

    @_lifetime(self: copy self)
    mutating func next() -> Range<Int>? {
      guard offset < payload.byteCount else {
        // Fewer elements than W says.
        if count > 0, index < count { isMalformed = true }
        return nil
      }
      index += 1
      var size = payload.byteCount - offset
      if count == 0 || index < count {
        var reader = ByteReader(payload.part(from: offset))
        let read = reader.leb128()
        offset += reader.offset
        guard let read, read <= payload.byteCount - offset else {
          isMalformed = true
          offset = payload.byteCount
          return nil
        }
        size = read
      }
      defer { offset += size }
      return offset..<offset + size
    }
  }
}
