public import SoraMedia
import SoraWire

/// VP9 in RTP (RFC 9628).
public struct VP9PayloadFormat: RTPPayloadFormat {
  /// Whether each frame names the pictures that it refers to. Without it, key pictures tell the stream's structure, which
  /// every receiver knows to handle.
  public var isFlexible: Bool

  public init(isFlexible: Bool = false) { self.isFlexible = isFlexible }
  public var name: String { "VP9" }
  public var kind: MediaKind { .video }
  public var clockRate: Int { 90_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader {
    VP9Payloader(random: random, isFlexible: isFlexible)
  }

  public func makeDepayloader() -> any RTPDepayloader { VP9Depayloader() }
}

/// Cuts VP9 pictures into payloads: each spatial layer into payloads of nearly equal size, none of which holds two layers.
public final class VP9Payloader: RTPPayloader {
  private let isFlexible: Bool
  private var pictureID: UInt16
  private var baseLayerIndex: UInt8
  private var descriptor = VP9Descriptor()
  private var frame: EncodedFrame?
  private var structure: VP9Descriptor.Structure?
  private var maximumPayload = 0
  private var layer = 0
  private var offset = 0
  /// Packets that the current layer still takes.
  private var partsLeft = 0

  /// The picture id and TL0PICIDX start at random.
  public init(random: RandomSource, isFlexible: Bool = false) {
    let word = random.next()
    pictureID = UInt16(truncatingIfNeeded: word) & 0x7FFF
    baseLayerIndex = UInt8(truncatingIfNeeded: word >> 16)
    self.isFlexible = isFlexible
  }

  public func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    pictureID = (pictureID &+ 1) & 0x7FFF
    if frame.temporalLayer == 0 { baseLayerIndex &+= 1 }
    self.frame = nil
    partsLeft = 0
    self.maximumPayload = maximumPayload
    structure = frame.isKeyFrame ? Self.structure(of: frame, isFlexible: isFlexible) : nil
    var start = 0
    var total = 0
    for index in 0..<max(1, frame.layers.count) {
      let end = Self.end(of: index, in: frame)
      guard end > start, end <= frame.payload.count else { return 0 }
      describe(index, of: frame)
      guard let parts = parts(end - start) else { return 0 }
      total += parts
      start = end
    }
    guard start == frame.payload.count else { return 0 }
    self.frame = frame
    layer = 0
    offset = 0
    beginLayer()
    return total
  }

  public var tellsLayerParts: Bool { true }

  public var nextLayerPart: RTPLayerPart? {
    guard frame != nil, partsLeft > 0 else { return nil }
    return RTPLayerPart(
      layer: layer, isFirst: descriptor.isLayerFrameStart, isLast: partsLeft == 1)
  }

  public func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let frame, partsLeft > 0 else { return nil }
    let end = Self.end(of: layer, in: frame)
    // What is left is shared evenly, the structure counted in.
    let extra = descriptor.structure?.byteCount ?? 0
    let left = end - offset
    let count = min(left, max(1, (left + extra + partsLeft - 1) / partsLeft - extra))
    partsLeft -= 1
    descriptor.isLayerFrameEnd = partsLeft == 0
    let header = descriptor.byteCount
    guard target.count >= header + count, unsafe (try? descriptor.write(into: target)) != nil else {
      self.frame = nil
      return nil
    }
    unsafe target.put(frame.payload.bytes.part(offset, count), at: header)
    offset += count
    descriptor.isLayerFrameStart = false
    descriptor.structure = nil
    var isLast = false
    if partsLeft == 0 {
      layer += 1
      isLast = layer >= max(1, frame.layers.count)
      if isLast { self.frame = nil } else { beginLayer() }
    }
    return RTPPayloadPart(count: header + count, marker: isLast)
  }

  private func beginLayer() {
    guard let frame else { return }
    describe(layer, of: frame)
    partsLeft = parts(Self.end(of: layer, in: frame) - offset) ?? 0
  }

  /// Packets that `size` bytes of the layer that `descriptor` describes take; nil where there is no room.
  private func parts(_ size: Int) -> Int? {
    let extra = descriptor.structure?.byteCount ?? 0
    let room = maximumPayload - (descriptor.byteCount - extra)
    guard room > extra else { return nil }
    return (size + extra + room - 1) / room
  }

  private func describe(_ index: Int, of frame: EncodedFrame) {
    let layers = frame.layers
    descriptor = VP9Descriptor()
    descriptor.pictureID = pictureID
    descriptor.isFlexible = isFlexible
    descriptor.isLayerFrameStart = true
    descriptor.hasLayerIndices = true
    descriptor.temporalLayer = UInt8(clamping: min(7, frame.temporalLayer))
    descriptor.isSwitchingPoint = layers.isSwitchingPoint
    descriptor.baseLayerIndex = baseLayerIndex
    descriptor.isInterPicturePredicted = !frame.isKeyFrame
    if !frame.isKeyFrame { descriptor.references.0 = 1 }
    if index < layers.count {
      let layer = layers[index]
      descriptor.spatialLayer = UInt8(clamping: min(7, layer.spatialLayer))
      descriptor.isInterLayerPredicted = layer.isInterLayerPredicted
      descriptor.isInterPicturePredicted = layer.isInterPicturePredicted
      descriptor.references = layer.references
      descriptor.isNotInterLayerReference =
        layers.spatialLayerCount > 1 && !layer.isInterLayerReference
    }
    if index == 0 { descriptor.structure = structure }
  }

  private static func end(of index: Int, in frame: EncodedFrame) -> Int {
    index < frame.layers.count ? frame.layers[index].end : frame.payload.count
  }

  private static func structure(
    of frame: EncodedFrame, isFlexible: Bool
  ) -> VP9Descriptor.Structure {
    let layers = frame.layers
    var structure = VP9Descriptor.Structure()
    structure.spatialLayers = max(1, min(8, layers.count))
    structure.hasSizes = true
    for index in 0..<structure.spatialLayers {
      let known = index < layers.count ? layers[index] : nil
      let width = known?.width ?? frame.width
      let height = known?.height ?? frame.height
      if width <= 0 || height <= 0 { structure.hasSizes = false }
      structure.sizes[index] = (UInt16(clamping: width), UInt16(clamping: height))
    }
    if !isFlexible { structure.groupTemporalLayers = max(1, min(3, layers.temporalLayerCount)) }
    return structure
  }
}

/// Understands VP9 payloads. A frame is a whole picture, with all its spatial layers.
public final class VP9Depayloader: RTPDepayloader {
  public init() {}

  public func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    var count = 0
    let descriptor = try VP9Descriptor(parsing: payload, count: &count)
    guard payload.byteCount > count else { throw .malformedPayload(codec: "VP9") }
    var info = RTPPayloadInfo(range: count..<payload.byteCount)
    if descriptor.isLayerFrameStart, !descriptor.isInterLayerPredicted {
      info.isFrameStart = descriptor.spatialLayer == 0
      // The layers below may have been left out on the way, or only be late.
      info.mayBeFrameStart = descriptor.spatialLayer > 0
      info.isKeyFrame = !descriptor.isInterPicturePredicted
    }
    info.isFrameEnd = marker
    info.pictureID = descriptor.pictureID
    if descriptor.hasLayerIndices {
      if !descriptor.isFlexible { info.baseLayerIndex = descriptor.baseLayerIndex }
      info.temporalLayer = descriptor.temporalLayer
      info.spatialLayer = descriptor.spatialLayer
      info.isSwitchingPoint = descriptor.isSwitchingPoint
    }
    if let structure = descriptor.structure, structure.hasSizes {
      let size = structure.sizes[structure.spatialLayers - 1]
      info.width = Int(size.width)
      info.height = Int(size.height)
    }
    return info
  }
}
