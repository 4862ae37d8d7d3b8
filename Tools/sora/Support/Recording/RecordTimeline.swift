package import SoraMedia

/// Which places of a film with a constant frame rate its pictures take: each the one nearest to its own time.
package struct RecordTimeline: Sendable {
  /// A longer gap is cut to this, so that a stream that is away for an hour doesn't fill the disk with one picture.
  package static let longestGap = Duration.seconds(10)

  package let framesPerSecond: Double
  /// Time that was cut out of longer gaps.
  package private(set) var cut = Duration.zero
  private var origin: Instant?
  private var place = 0

  package init(framesPerSecond: Double) { self.framesPerSecond = framesPerSecond }

  /// Goes on to the picture of `time`, which isn't earlier than the one before (it counts as the same time otherwise).
  ///
  /// - Returns: how many places the picture before takes; 0 where this one takes its place. nil for the first picture.
  package mutating func advance(to time: Instant) -> Int? {
    guard let origin else {
      self.origin = time
      return nil
    }
    let steps = max(0, Int(((time - origin).inSeconds * framesPerSecond).rounded()) - place)
    let limit = max(1, Int(Self.longestGap.inSeconds * framesPerSecond))
    guard steps > limit else {
      place += steps
      return steps
    }
    let excess = Duration.seconds(Double(steps - limit) / framesPerSecond)
    self.origin = origin + excess
    cut += excess
    place += limit
    return limit
  }
}
