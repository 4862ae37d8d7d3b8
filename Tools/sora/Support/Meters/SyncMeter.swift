package import SoraCapture
package import SoraMedia
import Synchronization

/// How far the test pattern's beeps are from the frames that they belong to: those whose index is a multiple of the frame rate. Safe from
/// any thread.
package final class SyncMeter: Sendable {
  /// Milliseconds by which frames came before their beeps (negative) or after them.
  package struct Result: Sendable, Equatable {
    /// The middle one.
    package var offset: Int
    /// What 95 % of them don't exceed, either way.
    package var p95: Int
    package var beeps: Int
  }

  fileprivate struct State: Sendable {
    fileprivate var onsets = BeepDetector()
    /// Of the first frame, to tell the frame rate.
    var first: FrameStamp?
    /// A frame that waits for its beep, or a beep that waits for its frame.
    var frame: Instant?
    var beep: Instant?
    /// Milliseconds, the newest last.
    var offsets: [Int] = []
  }

  /// Beeps are a second apart: what is further off belongs to another.
  fileprivate static let furthest = Duration.milliseconds(450)
  /// Some 17 minutes.
  fileprivate static let memory = 1_024

  private let state = Mutex(State())

  package init() {}

  /// nil before a frame and its beep have come.
  package var result: Result? {
    let offsets = state.withLock { $0.offsets }
    guard !offsets.isEmpty else { return nil }
    let sizes = offsets.map(\.magnitude).sorted()
    return Result(
      offset: offsets.sorted()[offsets.count / 2],
      p95: Int(sizes[(sizes.count * 95 + 99) / 100 - 1]), beeps: offsets.count)
  }

  /// Takes the stamp of a frame.
  package func add(_ stamp: FrameStamp?, at now: Instant) {
    guard let stamp else { return }
    state.withLock { state in
      guard let first = state.first, stamp.index > first.index else { return state.first = stamp }
      let milliseconds = stamp.milliseconds &- first.milliseconds
      // The rate is known well enough after a second.
      guard milliseconds >= 1_000, milliseconds < 1 << 31 else { return }
      let rate = (Double(stamp.index - first.index) * 1_000 / Double(milliseconds)).rounded()
      guard rate >= 1, stamp.index % UInt32(rate) == 0 else { return }
      state.frame = now
      state.match()
    }
  }

  /// Takes a block of audio whose first sample is heard now.
  package func add(_ block: AudioFrame, at now: Instant) {
    state.withLock { state in
      guard let onset = state.onsets.add(block) else { return }
      state.beep = now + onset
      state.match()
    }
  }
}

extension SyncMeter.State {
  fileprivate mutating func match() {
    guard let frame, let beep else { return }
    let difference = frame - beep
    if difference > SyncMeter.furthest {
      self.beep = nil
    } else if difference < .zero - SyncMeter.furthest {
      self.frame = nil
    } else {
      (self.frame, self.beep) = (nil, nil)
      offsets.append(Int(difference.inMilliseconds.rounded()))
      if offsets.count > SyncMeter.memory { offsets.removeFirst() }
    }
  }
}

/// Finds the beginnings of the pattern's beeps: 1 kHz after silence or the bed.
private struct BeepDetector: Sendable {
  /// Half of the beep's amplitude, far above the bed's.
  private static let threshold: Int16 = 7_000
  /// What is looked at before a beep is taken for one, and its crossings of zero at 1 kHz.
  private static let seconds = 0.01
  private static let crossings = 16...24

  /// Samples since the beginning of what may be a beep; nil in between.
  private var length: Int?
  private var crossed = 0
  private var isPositive = false
  /// Samples since the last loud one.
  private var quiet = Int.max / 2

  /// - Returns: where in the block a beep began, or how long before it; nil where none has been found.
  mutating func add(_ block: AudioFrame) -> Duration? {
    let rate = block.sampleRate
    let window = Int(Self.seconds * Double(rate))
    var found: Duration?
    for index in stride(from: 0, to: block.samples.count, by: max(1, block.channels)) {
      let sample = block.samples[index]
      let isLoud = sample.magnitude >= Self.threshold.magnitude
      if let known = length {
        if (sample > 0) != isPositive {
          crossed += 1
          isPositive.toggle()
        }
        length = known + 1
        if known + 1 == window {
          if Self.crossings.contains(crossed) {
            let position = index / max(1, block.channels) - window
            found = .nanoseconds(Int64(position) * 1_000_000_000 / Int64(max(1, rate)))
          }
          length = nil
        }
      } else if isLoud, quiet > rate / 10 {
        length = 0
        crossed = 0
        isPositive = sample > 0
      }
      quiet = isLoud ? 0 : quiet + 1
    }
    return found
  }
}
