package import SoraMedia

/// Frames of audio that wait for something slow: an encoder, or the app's sinks. Bounded by their duration.
///
/// When more than `limit` would wait, the oldest frames are dropped. For live audio that is the better end to drop from:
/// the delay stays within `limit` and what is heard is the newest. Dropping new frames instead would keep the delay at its
/// largest for as long as the slowness lasts.
///
/// A value without a lock or a queue. Its owner starts handling when `append` says so: `takeFirst`, then `finishFirst`, and
/// again until that returns false.
package struct AudioBacklog: Sendable {
  /// The oldest frame, and how much audio right before it was dropped.
  package struct Entry: Sendable {
    package var frame: AudioFrame
    package var lost: Duration
  }

  /// Frames that wait at most, however short they are.
  package static let maximumFrames = 1_000

  package let limit: Duration
  /// How much audio waits; at most `limit`, or one frame that alone is longer.
  package private(set) var duration = Duration.zero
  package private(set) var framesDropped: UInt64 = 0
  private var frames: [AudioFrame] = []
  /// Dropped right before the first of `frames`.
  private var lost = Duration.zero
  private var isHandled = false

  package init(limit: Duration) { self.limit = limit }

  /// Takes a frame in. Returns whether handling is to be started; if not, it is under way.
  package mutating func append(_ frame: AudioFrame) -> Bool {
    frames.append(frame)
    duration += frame.duration
    while frames.count > 1, duration > limit || frames.count > Self.maximumFrames { dropFirst() }
    guard !isHandled else { return false }
    isHandled = true
    return true
  }

  /// Takes the oldest frame out, to be handled now; nil if there is none.
  package mutating func takeFirst() -> Entry? {
    guard !frames.isEmpty else { return nil }
    let frame = frames.removeFirst()
    duration -= frame.duration
    defer { lost = .zero }
    return Entry(frame: frame, lost: lost)
  }

  /// Notes that a frame was handled. Returns whether another waits; if not, the next `append` starts handling again.
  package mutating func finishFirst() -> Bool {
    isHandled = !frames.isEmpty
    return isHandled
  }

  /// Forgets everything that waits, without counting it.
  package mutating func removeAll() {
    frames = []
    duration = .zero
    lost = .zero
  }

  private mutating func dropFirst() {
    let frame = frames.removeFirst()
    duration -= frame.duration
    lost += frame.duration
    framesDropped &+= 1
  }
}
