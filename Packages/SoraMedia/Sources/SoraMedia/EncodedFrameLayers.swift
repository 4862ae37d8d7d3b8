/// Where a frame stands among the layers of a scalable stream. The defaults say: one layer, nothing known.
///
/// An `EncodedFrame` holds one picture: all its spatial layers, one behind the other in the payload. Encoders say where
/// each ends and what it needs; payloaders write that into their descriptors. Plain memory: copying it allocates nothing.
public struct EncodedFrameLayers: Sendable, Hashable {
  /// Spatial layers that one picture can have.
  public static let maximumSpatialLayers = 4

  /// Temporal layers of the stream, 1...4.
  public var temporalLayerCount = 1
  /// Spatial layers of the stream, 1...4; a picture may carry fewer.
  public var spatialLayerCount = 1
  /// The frame refers to nothing but the base temporal layer, so that a receiver can enter its layer here
  /// (Y of RFC 7741 §4.2).
  public var isLayerSync = false
  /// No later frame of a higher temporal layer refers to anything before this frame that is above its layer
  /// (U of RFC 9628 §4.2).
  public var isSwitchingPoint = false
  /// False where no other frame refers to this one (N of RFC 7741 §4.2).
  public var isReferenced = true

  private var first = SpatialLayerFrame()
  private var second = SpatialLayerFrame()
  private var third = SpatialLayerFrame()
  private var fourth = SpatialLayerFrame()
  /// Layer frames that are described. 0 where the payload is one frame without a description.
  public private(set) var count = 0

  public init() {}

  /// Layer frame `index`, lowest first; 0..<`count`.
  public subscript(index: Int) -> SpatialLayerFrame {
    precondition(index >= 0 && index < count)
    switch index {
    case 0: return first
    case 1: return second
    case 2: return third
    default: return fourth
    }
  }

  /// Describes one more layer frame. What goes beyond `maximumSpatialLayers` is ignored.
  public mutating func append(_ frame: SpatialLayerFrame) {
    switch count {
    case 0: first = frame
    case 1: second = frame
    case 2: third = frame
    case 3: fourth = frame
    default: return
    }
    count += 1
  }
}

/// One spatial layer of one picture.
public struct SpatialLayerFrame: Sendable, Hashable {
  /// Spatial layer, 0 is the lowest.
  public var spatialLayer: Int
  /// Bytes of the payload up to the end of this layer's.
  public var end: Int
  /// Size in pixels; 0 where it is not known.
  public var width: Int
  public var height: Int
  /// Whether it refers to the layer below in the same picture.
  public var isInterLayerPredicted: Bool
  /// Whether the layer above refers to it in the same picture.
  public var isInterLayerReference: Bool
  /// How many pictures back each picture lies that it refers to, 1...127; 0 where there is none.
  public var references: (UInt8, UInt8, UInt8)

  public init(
    spatialLayer: Int = 0, end: Int = 0, width: Int = 0, height: Int = 0,
    isInterLayerPredicted: Bool = false, isInterLayerReference: Bool = false,
    references: (UInt8, UInt8, UInt8) = (0, 0, 0)
  ) {
    self.spatialLayer = spatialLayer
    self.end = end
    self.width = width
    self.height = height
    self.isInterLayerPredicted = isInterLayerPredicted
    self.isInterLayerReference = isInterLayerReference
    self.references = references
  }

  /// Whether it refers to earlier pictures, as far as is known.
  public var isInterPicturePredicted: Bool {
    references.0 != 0 || references.1 != 0 || references.2 != 0
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.spatialLayer == b.spatialLayer && a.end == b.end && a.width == b.width
      && a.height == b.height && a.isInterLayerPredicted == b.isInterLayerPredicted
      && a.isInterLayerReference == b.isInterLayerReference && a.references == b.references
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(spatialLayer)
    hasher.combine(end)
    hasher.combine(width)
    hasher.combine(height)
    hasher.combine(isInterLayerPredicted)
    hasher.combine(isInterLayerReference)
    hasher.combine(references.0)
    hasher.combine(references.1)
    hasher.combine(references.2)
  }
}
