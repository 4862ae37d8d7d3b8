import Dispatch
package import SoraCapture
package import SoraMedia
import Synchronization

/// Compares received pictures with the pattern that was sent, on a queue of its own: some of them, never all, because a
/// comparison costs as much as decoding.
package final class QualityProbe: Sendable {
  package struct Result: Sendable, Equatable {
    package var samples = 0
    /// dB
    package var minimum = Double.infinity
    fileprivate var sum = 0.0
    /// dB; nil before the first sample.
    package var average: Double? { samples > 0 ? sum / Double(samples) : nil }
  }

  private struct State {
    var isBusy = false
    var next = Instant.zero
    var pattern: TestPattern?
    var result = Result()
  }

  private static let interval = Duration.milliseconds(200)
  private let queue = DispatchQueue(label: "sora.quality", qos: .utility)
  private let state = Mutex(State())

  package init() {}

  package var result: Result { state.withLock { $0.result } }

  /// Compares a picture if it is time for one. Returns at once.
  package func offer(_ picture: PixelBuffer, stamp: FrameStamp, at now: Instant) {
    let isDue = state.withLock { state in
      guard !state.isBusy, now >= state.next else { return false }
      state.isBusy = true
      state.next = now + Self.interval
      return true
    }
    guard isDue else { return }
    queue.async { [self] in
      let pattern = self.pattern(width: picture.width, height: picture.height)
      let original = pattern.frame(index: stamp.index, milliseconds: stamp.milliseconds)
      let psnr = PictureQuality.psnr(picture, original)
      state.withLock { state in
        state.isBusy = false
        guard let psnr else { return }
        state.result.samples += 1
        state.result.sum += psnr
        state.result.minimum = min(state.result.minimum, psnr)
      }
    }
  }

  /// Waits for a comparison that is under way.
  package func finish() { queue.sync {} }

  private func pattern(width: Int, height: Int) -> TestPattern {
    if let pattern = state.withLock({ $0.pattern }), pattern.width == width,
      pattern.height == height
    {
      return pattern
    }
    let pattern = TestPattern(width: width, height: height)
    state.withLock { $0.pattern = pattern }
    return pattern
  }
}
