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

/// What a frame is made of, in formats whose packets tell (H.264, H.265); empty in others, whose first packet says all.
public struct RTPFrameParts: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A picture that needs others.
  public static let picture = RTPFrameParts(rawValue: 1)
  /// A picture at which a decoder can start.
  public static let randomAccessPicture = RTPFrameParts(rawValue: 2)
  /// Parameter sets of any kind.
  public static let parameterSets = RTPFrameParts(rawValue: 4)
  public static let sequenceParameters = RTPFrameParts(rawValue: 8)
  /// The note that pictures are whole some time after this one, as with intra refresh.
  public static let recoveryPoint = RTPFrameParts(rawValue: 16)
  /// Anything else: messages, delimiters.
  public static let other = RTPFrameParts(rawValue: 32)

  public var hasPicture: Bool { contains(.picture) || contains(.randomAccessPicture) }

  /// Whether a decoder can start here.
  public var isKeyFrame: Bool {
    contains(.randomAccessPicture)
      || contains(.recoveryPoint) && contains(.sequenceParameters) && contains(.picture)
  }
}

/// What one payload carries.
public struct RTPPayloadInfo: Equatable, Sendable {
  /// Media bytes inside the payload.
  public var range: Range<Int>
  /// The first packet of a frame.
  public var isFrameStart = false
  /// The packet is the first of its frame if the packet before it belongs to another frame; formats that don't mark
  /// first packets say this instead of `isFrameStart`.
  public var mayBeFrameStart = false
  /// The last packet of a frame.
  public var isFrameEnd = false
  /// Whether a decoder can start at this frame; only known at its first packet, or by `parts`.
  public var isKeyFrame = false
  /// What of its frame the payload holds, in formats where that takes more than the first packet.
  public var parts: RTPFrameParts = []
  /// The picture id, of 7 or 15 bits; `nil` when the format or sender has none.
  public var pictureID: UInt16?
  /// Running index of base-layer frames, modulo 256; `nil` without temporal layers.
  public var baseLayerIndex: UInt8?
  /// Temporal layer; 0 is the base.
  public var temporalLayer: UInt8 = 0
  /// Spatial layer of the packet; 0 is the lowest.
  public var spatialLayer: UInt8 = 0
  /// Whether later frames of higher temporal layers refer to nothing before this one above its layer, so that a
  /// receiver may enter these layers behind it.
  public var isSwitchingPoint = false
  /// Whether the frame refers to the base layer only, so that a receiver may enter its layer here.
  public var isLayerSync = false
  /// Which frames the packet's frame needs, where its dependency descriptor tells; with the first packet of each layer.
  var dependencies: FrameDependencies?
  /// Size in pixels where the payload tells it (key frames); else 0.
  public var width = 0
  public var height = 0

  public init(range: Range<Int>) {
    self.range = range
  }
}

/// The payload formats of this module, by SDP name.
public enum RTPPayloadFormats {
  public static let vp8 = VP8PayloadFormat()
  public static let vp9 = VP9PayloadFormat()
  public static let av1 = AV1PayloadFormat()
  public static let h264 = H264PayloadFormat()
  public static let h265 = H265PayloadFormat()
  public static let opus = OpusPayloadFormat()

  /// The format with this encoding name, letter case ignored (RFC 4855 §3), and the format parameters of a description.
  /// `nil` when there is none, or the parameters ask for something that it can't do.
  public static func named(
    _ name: String, parameters: [String: String] = [:]
  ) -> (any RTPPayloadFormat)? {
    switch VideoCodecKind(encodingName: name) {
    case .vp8: vp8
    case .vp9: vp9
    case .av1: av1
    case .h264: H264PayloadFormat(parameters: parameters)
    case .h265: H265PayloadFormat(parameters: parameters)
    case nil: name.lowercased() == "opus" ? opus : nil
    }
  }
}
