public import SoraMedia
import SoraWire

/// How a codec's frames travel in RTP packets. One conforming type a codec; make the two halves once a stream.
public protocol RTPPayloadFormat: Sendable {
  /// The encoding name as SDP's `a=rtpmap` writes it.
  var name: String { get }
  var kind: MediaKind { get }
  /// Ticks a second of the RTP clock.
  var clockRate: Int { get }
  /// The sending half. `random` gives the starting values that the format wants unpredictable.
  func makePayloader(random: RandomSource) -> any RTPPayloader
  /// The receiving half.
  func makeDepayloader() -> any RTPDepayloader
}

/// Cuts frames into RTP payloads. Pull-driven: payloads are written straight into the caller's packets.
///
/// Confined to the owner of the stream.
public protocol RTPPayloader: AnyObject {
  /// Starts on a frame and returns how many packets it takes; 0 when it can't be sent (no bytes). A frame that was
  /// not finished is dropped. `maximumPayload` is the room for payload in one packet, descriptor included.
  func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int

  /// Which spatial layer's frame the next payload is of, in formats that never put two into one; `nil` in others, and behind
  /// the last payload.
  var nextLayerPart: RTPLayerPart? { get }

  /// Whether `nextLayerPart` is ever told.
  var tellsLayerParts: Bool { get }

  /// Writes the next payload of the frame to the start of `buffer`, which holds at least `maximumPayload` bytes.
  /// `nil` after the last.
  func next(into buffer: UnsafeMutableRawBufferPointer) -> RTPPayloadPart?
}

extension RTPPayloader {
  public var nextLayerPart: RTPLayerPart? { nil }
  public var tellsLayerParts: Bool { false }
}

/// Where a payload stands in its picture.
public struct RTPLayerPart: Equatable, Sendable {
  /// Which of the frame's `EncodedFrame.layers`; 0 where it has none.
  public var layer: Int
  /// The first and the last payload of its layer.
  public var isFirst: Bool
  public var isLast: Bool

  public init(layer: Int, isFirst: Bool, isLast: Bool) {
    self.layer = layer
    self.isFirst = isFirst
    self.isLast = isLast
  }
}

/// One written payload.
public struct RTPPayloadPart: Equatable, Sendable {
  /// Bytes written.
  public var count: Int
  /// The marker bit that the packet carries.
  public var marker: Bool

  public init(count: Int, marker: Bool) {
    self.count = count
    self.marker = marker
  }
}

/// Understands the payloads of one stream. Never traps, whatever the bytes are.
public protocol RTPDepayloader: AnyObject {
  /// What `payload` is and where its media bytes lie. Stateless with respect to order: packets may come in any.
  func parse(_ payload: RawSpan, marker: Bool) throws(RTPError) -> RTPPayloadInfo

  /// Appends the media bytes of a payload to its frame; called in order within a frame.
  func append(_ payload: RawSpan, info: RTPPayloadInfo, to frame: EncodedBuffer)

  /// Whether a whole key frame can't be decoded for want of parameter sets that neither it nor anything before it brought.
  func lacksParameterSets(_ frame: EncodedBuffer) -> Bool

  /// Called with each frame that goes to the decoder, or whose content is all that is left of it, in their order: remembers
  /// its parameter sets. Returns the frame, or another with the parameter sets in front that it needs.
  func complete(_ frame: EncodedBuffer, parts: RTPFrameParts) -> EncodedBuffer
}

extension RTPDepayloader {
  /// Appends the range that `parse` told, which is all that most formats need.
  public func append(
    _ payload: RawSpan, info: RTPPayloadInfo, to frame: EncodedBuffer
  ) {
    guard info.range.lowerBound >= 0, info.range.upperBound <= payload.byteCount else { return }
    frame.append(payload.part(info.range.lowerBound, info.range.count))
  }

  /// Formats whose key frames hold all that a decoder needs.
  public func lacksParameterSets(_ frame: EncodedBuffer) -> Bool { false }
  public func complete(_ frame: EncodedBuffer, parts: RTPFrameParts) -> EncodedBuffer { frame }
}
