package import SoraMedia

/// When a window may be drawn again: as often as its display shows frames, and no more.
package struct FramePacer: Sendable {
  private let interval: Duration
  private var last: Instant?

  /// - Parameter framesPerSecond: of the display; 60 where it isn't known.
  package init(framesPerSecond: Double) {
    let rate = (10...1_000).contains(framesPerSecond) ? framesPerSecond : 60
    interval = .nanoseconds(Int64(1e9 / rate))
  }

  /// The display's time from frame to frame.
  package var displayInterval: Duration { interval }

  /// When it may be drawn again. A little early, so that frames at the display's own rate don't wait for each other.
  package var due: Instant { last.map { $0 + interval * 15 / 16 } ?? .zero }

  /// It is drawn now.
  package mutating func draw(at now: Instant) { last = now }
}
