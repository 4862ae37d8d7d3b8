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
