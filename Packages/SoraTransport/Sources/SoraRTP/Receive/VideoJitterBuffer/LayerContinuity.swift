import SoraMedia

/// Knows which temporal layers can be decoded after a frame was lost (RFC 7741 §4.2, TL0PICIDX and Y).
struct LayerContinuity {
  private var baseLayerIndex: UInt8?
  private var pictureID: UInt16?
  /// The lowest layer that misses a reference; frames of it and above can't be decoded until a layer sync.
  private(set) var brokenFrom: UInt8 = .max
  private(set) var brokenSince: Instant?
  /// Frames that were released, by the numbers of their dependency descriptors.
  private var released = FrameNumberSet()
  private var lastNumber: UInt16?

  /// Whether exactly no frame lies between the last released one and `info`: the missing packets, if any, were
  /// padding.
  func follows(_ info: RTPPayloadInfo) -> Bool {
    if let lastNumber, let dependencies = info.dependencies {
      return dependencies.first == lastNumber &+ 1
    }
    guard let pictureID, let next = info.pictureID else { return false }
    return next == (pictureID &+ 1) & 0x7FFF || (pictureID == 0x7F && next == 0)
  }

  /// Whether a frame can be decoded although frames before it may be missing.
  func isDecodableAfterLoss(_ info: RTPPayloadInfo) -> Bool {
    if let dependencies = info.dependencies, !dependencies.isPartial {
      return dependencies.areMet(by: released)
    }
    guard let baseLayerIndex, let index = info.baseLayerIndex else { return false }
    if info.temporalLayer == 0 { return index == baseLayerIndex &+ 1 }
    return index == baseLayerIndex && info.isLayerSync
  }

  /// Whether a frame whose predecessors have all arrived, except those dropped for their layer, can be decoded.
  func isDecodable(_ info: RTPPayloadInfo) -> Bool {
    if let dependencies = info.dependencies, !dependencies.isPartial {
      return dependencies.areMet(by: released)
    }
    return info.temporalLayer < brokenFrom || info.isLayerSync
  }

  /// Whether dropping this frame harms nothing but its own layer.
  func isSkippable(_ info: RTPPayloadInfo) -> Bool {
    if info.dependencies != nil { return info.temporalLayer > 0 }
    guard let baseLayerIndex, let index = info.baseLayerIndex else { return false }
    return info.temporalLayer > 0 && index == baseLayerIndex
  }

  mutating func released(_ info: RTPPayloadInfo, afterLoss: Bool, at now: Instant) {
    pictureID = info.pictureID
    baseLayerIndex = info.baseLayerIndex
    if let dependencies = info.dependencies {
      if info.isKeyFrame { released = FrameNumberSet() }
      var number = dependencies.first
      // A picture has few layers; numbers of a hostile one may lie far apart.
      for _ in 0..<8 {
        released.insert(number)
        if number == dependencies.last { break }
        number &+= 1
      }
      lastNumber = dependencies.last
      brokenFrom = .max
      brokenSince = nil
      return
    }
    lastNumber = nil
    if info.isKeyFrame {
      brokenFrom = .max
      brokenSince = nil
    } else if afterLoss, !info.isSwitchingPoint {
      brokenFrom = info.temporalLayer + 1
      if brokenSince == nil { brokenSince = now }
    } else if info.isSwitchingPoint, info.temporalLayer < brokenFrom {
      // RFC 9628 §4.2, U: nothing above this layer needs what was lost before.
      brokenFrom = .max
      brokenSince = nil
    } else if info.isLayerSync, info.temporalLayer >= brokenFrom {
      // Layers above it, if there are any, show that they are broken when their next frame is skipped.
      brokenFrom = info.temporalLayer + 1
      brokenSince = nil
    }
  }

  /// A frame of a higher layer was dropped.
  mutating func skipped(_ info: RTPPayloadInfo, at now: Instant) {
    if let dependencies = info.dependencies {
      // Those that need it tell by themselves.
      lastNumber = dependencies.last
      return
    }
    brokenFrom = min(brokenFrom, max(1, info.temporalLayer))
    // The next frame's picture id follows the dropped one's.
    pictureID = info.pictureID
    if brokenSince == nil { brokenSince = now }
  }
}
