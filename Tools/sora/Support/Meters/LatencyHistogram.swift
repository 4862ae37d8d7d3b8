/// How late frames are, in whole milliseconds: memory doesn't grow with the length of a call.
package struct LatencyHistogram: Sendable, Equatable {
  /// Later than this isn't a live picture: a recording, or a sender with another clock.
  package static let maximum = 60_000
  /// Clocks that are set over the network disagree by a little.
  private static let tolerance = 50

  private var counts: [Int] = []
  /// Frames counted.
  package private(set) var count = 0
  /// Frames whose age was outside what makes sense, and that aren't in the percentiles.
  package private(set) var outliers = 0

  package init() {}

  package mutating func add(milliseconds: Int) {
    guard (-Self.tolerance...Self.maximum).contains(milliseconds) else {
      outliers += 1
      return
    }
    let bucket = max(0, milliseconds)
    if bucket >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
    }
    counts[bucket] += 1
    count += 1
  }

  /// The least latency that `percent` (0 to 100) of the frames don't exceed (nearest rank); nil without frames.
  package func percentile(_ percent: Double) -> Int? {
    guard count > 0 else { return nil }
    let rank = max(1, Int((percent / 100 * Double(count)).rounded(.up)))
    var seen = 0
    for (milliseconds, frames) in counts.enumerated() {
      seen += frames
      if seen >= rank { return milliseconds }
    }
    return counts.count - 1
  }
}
