/// Shares a bitrate out to layers, lowest first, as libwebrtc's `SimulcastRateAllocator` does.
///
/// Every layer gets up to its target before the next one gets anything; what is left goes to the highest that is on, up
/// to its maximum. A layer that is off comes on only with a fifth more than its minimum, so that an estimate that wavers
/// around it doesn't cost a key frame each time.
public struct SimulcastAllocator: Sendable, Hashable {
  /// What a layer that is off must be able to get, in hundredths of its minimum.
  private static let hysteresisPercent = 120

  private var wasOn: [Bool] = []
  private var isFirst = true
  /// Whether there were too few bits for a layer that is active.
  public private(set) var isLimited = false

  public init() {}

  /// Bits a second for each layer; 0 means off. `layers` go from the lowest up; nil for those that aren't active.
  ///
  /// The lowest active layer is never off while there is anything to share.
  public mutating func allocate(_ bitsPerSecond: Int, to layers: [SimulcastBitrates?]) -> [Int] {
    if wasOn.count != layers.count {
      wasOn = [Bool](repeating: false, count: layers.count)
      isFirst = true
    }
    var shares = [Int](repeating: 0, count: layers.count)
    var left = max(0, bitsPerSecond)
    var highest: Int?
    isLimited = false
    for (index, layer) in layers.enumerated() {
      guard let layer else { continue }
      guard left > 0 else {
        isLimited = true
        break
      }
      if highest != nil {
        let wanted =
          wasOn[index] || isFirst
          ? layer.minimum
          : min(layer.minimum * Self.hysteresisPercent / 100, layer.target)
        guard left >= wanted else {
          isLimited = true
          break
        }
      }
      shares[index] = min(left, layer.target)
      left -= shares[index]
      highest = index
    }
    if let highest, let layer = layers[highest] {
      shares[highest] += min(left, max(0, layer.maximum - shares[highest]))
    }
    for index in shares.indices { wasOn[index] = shares[index] > 0 }
    isFirst = highest == nil
    return shares
  }
}
