package import SoraMedia

/// How many frames the last second had (W3C `framesPerSecond`). A ring that is there from the first frame on.
package struct FrameWindow: Sendable {
  private static let capacity = 256

  private var times: [Instant] = []
  private var next = 0

  package init() {}

  package mutating func add(_ time: Instant) {
    if times.isEmpty { times = Array(repeating: Instant(nanoseconds: .min), count: Self.capacity) }
    times[next] = time
    next = (next + 1) % Self.capacity
  }

  /// Frames within the second before `now`.
  package func count(at now: Instant) -> Int {
    let start = now - .seconds(1)
    return times.count { $0 > start && $0 <= now }
  }
}
