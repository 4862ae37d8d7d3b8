/// Drops frames for encoders whose library never does, so that what is sent doesn't run away from its target.
///
/// A leaky bucket: frames fill it with their bits, time empties it at the target rate. While it holds more than a bound,
/// the next frame is dropped.
package struct FrameDropper {
  /// Seconds of the target rate that can be owed at all. A pacer sends what it has within two, whatever the rate: bits that a wide link
  /// had room for would stop the pictures for minutes once it is a narrow one.
  package static let longestDebt = 2.0

  /// Seconds of the target rate that may be owed before a frame is dropped.
  private let bound: Double
  /// Bits that were sent beyond the target.
  private var debt = 0.0

  package init(bound: Double) { self.bound = bound }

  /// Says whether to drop the frame that comes `elapsed` seconds after the last.
  package mutating func shouldDrop(bitsPerSecond: Int, elapsed: Double) -> Bool {
    let rate = Double(bitsPerSecond)
    debt = min(max(0, debt - rate * min(max(elapsed, 0), 1)), rate * Self.longestDebt)
    return debt > rate * bound
  }

  /// Notes a frame that was sent.
  package mutating func sent(bytes: Int) { debt += Double(bytes) * 8 }
}
