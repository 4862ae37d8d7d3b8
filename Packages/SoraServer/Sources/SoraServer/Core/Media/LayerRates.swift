import SoraCongestion
import SoraMedia

/// The bit rate of a published video by temporal layer, measured over the recent past. Plain memory.
struct LayerRates {
  /// Temporal layers that are told apart; higher ones count with the last.
  static let count = 4
  private var layers: InlineArray<4, RecentBytes>
  /// The highest layer that was seen.
  private(set) var highest: UInt8 = 0

  /// Whether what is new is taken to go on as it came so far, not as if it had come for as long as is remembered.
  private let trustsBeginning: Bool

  /// Those of a source that begins, or that comes again.
  init(memory: Duration, trustsBeginning: Bool) {
    layers = .init(repeating: RecentBytes(memory: memory))
    self.trustsBeginning = trustsBeginning
  }

  /// A packet of a layer was forwarded; `size` with all its headers.
  mutating func add(_ size: Int, layer: UInt8, at now: Instant) {
    let layer = min(layer, UInt8(Self.count - 1))
    highest = max(highest, layer)
    layers[Int(layer)].add(size, at: now)
  }

  /// What the layers up to and including this one take together.
  mutating func rate(through layer: UInt8, at now: Instant) -> Bitrate {
    var sum = Bitrate.zero
    for index in 0...Int(min(layer, UInt8(Self.count - 1))) {
      sum =
        sum
        + (trustsBeginning
          ? layers[index].rateSinceFirst(at: now) : layers[index].rate(at: now))
    }
    return sum
  }
}
