package import SoraCapture
package import SoraMedia
import Synchronization

/// What can be seen of one stream's pictures: rate, size, stamps and quality. Safe from any thread.
package final class VideoMeter: Sendable {
  package struct Snapshot: Sendable {
    package var frames = 0
    package var width = 0
    package var height = 0
    package var first: Instant?
    package var last: Instant?
    package var stamps = StampMeter()
    package var quality = QualityProbe.Result()

    /// Frames a second between the first and the last frame; 0 where there are fewer than two.
    package var framesPerSecond: Double {
      guard frames > 1, let first, let last, last > first else { return 0 }
      return Double(frames - 1) / (last - first).inSeconds
    }

    /// Longer without a frame than this, and the time counts.
    private static let longestSilence = Duration.seconds(1)

    /// Seconds from the first frame to `end`, or to the last one where that was shortly before.
    package func seconds(until end: Instant) -> Double {
      guard let first, let last else { return 0 }
      return ((end - last > Self.longestSilence ? end : last) - first).inSeconds
    }

    /// Frames per second from the first one to `end`; a silence at the end lowers it.
    package func framesPerSecond(until end: Instant) -> Double {
      let seconds = seconds(until: end)
      return frames > 1 && seconds > 0 ? Double(frames - 1) / seconds : 0
    }

    /// How long there has been no frame at `now`, where that is more than a freeze would be; nil otherwise, and before the
    /// first frame.
    package func silence(at now: Instant) -> Duration? {
      guard let last, now - last > Self.longestSilence else { return nil }
      let interval = framesPerSecond > 0 ? 1 / framesPerSecond : 0
      return (now - last).inSeconds > 3 * interval ? now - last : nil
    }
  }

  private let state = Mutex(Snapshot())
  private let probe: QualityProbe?

  /// - Parameter measuresQuality: whether pictures are compared with the pattern. Senders know their own.
  package init(measuresQuality: Bool = true) { probe = measuresQuality ? QualityProbe() : nil }

  /// Counts a frame. Reads its stamp (some 20 microseconds); anything longer happens elsewhere.
  ///
  /// - Parameter realtime: the wall clock in milliseconds.
  /// - Returns: the stamp; nil where there is none.
  @discardableResult
  package func add(_ frame: RawVideoFrame, at now: Instant, realtimeMilliseconds realtime: Int64)
    -> FrameStamp?
  {
    let stamp = FrameStamp(reading: frame.buffer)
    state.withLock { state in
      state.frames += 1
      state.width = frame.width
      state.height = frame.height
      if state.first == nil { state.first = now }
      state.last = now
      state.stamps.add(stamp, atRealtimeMilliseconds: realtime)
    }
    if let stamp { probe?.offer(frame.buffer, stamp: stamp, at: now) }
    return stamp
  }

  /// Counts a frame that is encoded already.
  package func addEncoded(width: Int, height: Int, at now: Instant) {
    state.withLock { state in
      state.frames += 1
      if width > 0 { (state.width, state.height) = (width, height) }
      if state.first == nil { state.first = now }
      state.last = now
    }
  }

  package var snapshot: Snapshot {
    var snapshot = state.withLock { $0 }
    if let probe { snapshot.quality = probe.result }
    return snapshot
  }

  /// Waits for a measurement that is under way.
  package func finish() { probe?.finish() }
}
