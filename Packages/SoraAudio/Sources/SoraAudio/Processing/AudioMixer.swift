public import SoraMedia
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Mixes any number of streams for one loudspeaker: each with a volume of its own and a level, together below full scale.
///
/// Streams push frames from threads of their own; one thread pulls 10 ms at a time. Both go by the same clock, so that a short wait for
/// each stream (20 ms, more where that was too little, and less again where that was too much for five seconds) is all that is needed.
/// `AudioReader` pulls more at once, and the wait is longer by that. Safe from any thread.
public final class AudioMixer: Sendable {
  public let channels: Int

  private struct State: Sendable {
    var inputs: [Input] = []
    var limiter = Limiter()
    var level = LevelMeter()
    var sum: [Float]
    /// What is waited for at least.
    var leastDelay = Input.leastDelay
  }
  private let state: Mutex<State>

  /// - Parameter channels: of what comes out, 1 or 2.
  public init(channels: Int = 2) {
    self.channels = min(max(channels, 1), 2)
    state = Mutex(State(sum: []))
  }

  /// Another stream. It is heard until it is removed.
  public func makeInput() -> Input {
    let input = Input(channels: channels)
    state.withLock { $0.inputs.append(input) }
    return input
  }

  public func remove(_ input: Input) {
    state.withLock { $0.inputs.removeAll { $0 === input } }
  }

  /// Says how many samples of each channel are read one right after the other from now on: streams come in at the clock's pace, and
  /// have to wait for as many.
  package func willRead(_ samples: Int) {
    let blocks = max(1, (samples + Input.step - 1) / Input.step)
    state.withLock { $0.leastDelay = Input.leastDelay + (blocks - 1) * Input.step }
  }

  /// Puts what comes next in the place of the frame's samples, which are of 48 kHz and `channels`.
  public func read(into frame: inout AudioFrame) {
    let count = frame.samples.count
    state.withLock { state in
      state.sum.removeAll(keepingCapacity: true)
      state.sum.append(contentsOf: repeatElement(0, count: count))
      for input in state.inputs { input.add(to: &state.sum, waiting: state.leastDelay) }
      state.limiter.limit(&state.sum, channels: channels)
      for index in 0..<count { frame.samples[index] = Int16(state.sum[index].rounded()) }
      state.level.add(AudioLevel.meanSquare(frame.samples.span))
    }
  }

  /// How loud the mix is, in dB relative to full scale, over about the last 100 ms; nil for silence.
  public var levelDB: Double? { state.withLock { $0.level.decibels } }
}

extension AudioMixer {
  /// One stream of a mixer.
  public final class Input: Sendable {
    /// What a stream has done so far.
    public struct Statistics: Sendable, Hashable {
      /// How often nothing more was there; each time a little more is waited for.
      public var underruns = 0
      /// What is waited for at present.
      public var delay = Duration.milliseconds(20)
      /// Samples of each channel that were dropped because too many waited.
      public var samplesDropped = 0
    }

    fileprivate static let leastDelay = 960
    /// By so much it may grow.
    private static let growth = 2_880
    /// More than the delay by so much is too much.
    private static let slack = 2_880
    private static let ramp = 120
    /// Reads after which a wait that was never needed shrinks by `step`: five seconds.
    private static let patience = 500
    fileprivate static let step = 480

    private struct State: Sendable {
      var volume = 1.0
      var gain: Float = 1
      /// Interleaved, in the mixer's channels; heard up to `start`.
      var waiting: [Int16] = []
      var start = 0
      var isPlaying = false
      var delay = leastDelay
      /// Of each channel: what was left after the last reads at least, and how many these were.
      var leastLeft = Int.max
      var reads = 0
      var level = LevelMeter()
      var statistics = Statistics()

      mutating func wait(for samples: Int) {
        delay = samples
        statistics.delay = .microseconds(samples * 1_000 / 48)
        (leastLeft, reads) = (.max, 0)
      }

      /// Keeps the wait within its bounds.
      mutating func bound(_ least: Int) {
        let bounded = min(max(delay, least), least + growth)
        if bounded != delay { wait(for: bounded) }
      }

      /// Takes 10 ms out of a wait that grew, once twice as much has been left over for a while.
      mutating func shrink(_ channels: Int, to least: Int) {
        guard delay > least else { return }
        leastLeft = min(leastLeft, (waiting.count - start) / channels)
        reads += 1
        guard reads >= patience else { return }
        if leastLeft >= 2 * step {
          let later = start + step * channels
          for index in 0..<(ramp * channels) {
            let weight = index / channels
            waiting[later + index] = Int16(
              (Int(waiting[start + index]) * (ramp - weight) + Int(waiting[later + index]) * weight)
                / ramp)
          }
          start = later
          wait(for: max(least, delay - step))
        } else {
          (leastLeft, reads) = (.max, 0)
        }
      }
    }

    private let channels: Int
    private let state = Mutex(State())
    private let resampler = Mutex<UncheckedResampler?>(nil)

    /// The resampler of the last rate; its mutex lends it to one thread at a time.
    private struct UncheckedResampler: @unchecked Sendable {
      // @unchecked: only `push` uses it, under the mutex.
      let value: AudioResampler
    }

    init(channels: Int) { self.channels = channels }

    /// 0 (silent) to 10; 1 at first, which leaves the samples as they are. Others are clamped. Changes are gradual.
    public var volume: Double {
      get { state.withLock { $0.volume } }
      set {
        guard !newValue.isNaN else { return }
        state.withLock { $0.volume = min(10, max(0, newValue)) }
      }
    }

    /// How loud the stream is before its volume, in dB relative to full scale, over about the last 100 ms; nil for silence.
    public var levelDB: Double? { state.withLock { $0.level.decibels } }
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Takes audio of any length; 48 kHz in 10 ms costs least. From one thread at a time. Where too much waits, the oldest is dropped: a
    /// frame is never too long by itself.
    public func push(_ frame: AudioFrame) {
      let samples = frame.sampleRate == 48_000 ? frame.samples : resampled(frame)
      state.withLock { state in
        state.level.add(AudioLevel.meanSquare(samples.span))
        if state.start > 0 {
          state.waiting.removeFirst(state.start)
          state.start = 0
        }
        let before = state.waiting.count
        append(samples, of: frame.channels, to: &state.waiting)
        // What came at once waits together, however long it is.
        let room = max(state.delay * channels, state.waiting.count - before)
        if state.waiting.count > room + Self.slack * channels {
          let excess = state.waiting.count - room
          state.statistics.samplesDropped += excess / channels
          state.waiting.removeFirst(excess)
          // What is heard next begins softly.
          state.gain = 0
        }
      }
    }

    private func resampled(_ frame: AudioFrame) -> [Int16] {
      resampler.withLock { held in
        if held?.value.inputRate != frame.sampleRate || held?.value.channels != frame.channels {
          held = AudioResampler(
            inputRate: frame.sampleRate, outputRate: 48_000, channels: frame.channels
          ).map { UncheckedResampler(value: $0) }
        }
        var output: [Int16] = []
        held?.value.process(frame.samples.span, into: &output)
        return output
      }
    }

    private func append(_ samples: [Int16], of count: Int, to waiting: inout [Int16]) {
      if count == channels {
        waiting += samples
      } else if count == 1 {
        for sample in samples { for _ in 0..<channels { waiting.append(sample) } }
      } else if count == 2 {
        for index in stride(from: 0, to: samples.count - 1, by: 2) {
          waiting.append(Int16(meanOf: samples[index], samples[index + 1]))
        }
      }
    }

    /// Adds what is heard next to a mix of so many samples.
    ///
    /// - Parameter least: what is waited for at least, in samples of each channel.
    func add(to sum: inout [Float], waiting least: Int) {
      state.withLock { state in
        state.bound(least)
        let there = state.waiting.count - state.start
        if !state.isPlaying {
          guard there >= max(state.delay * channels, sum.count) else { return state.level.add(0) }
          state.isPlaying = true
          state.gain = 0
        }
        let count = min(there, sum.count)
        let isLast = count < sum.count
        let wanted = Float(state.volume)
        let step = 1 / Float(Self.ramp)
        for index in 0..<(count / channels) {
          // The end of what is there fades out.
          let target = isLast && index >= count / channels - Self.ramp ? 0 : wanted
          let change = min(max(target - state.gain, -step * max(1, wanted)), step * max(1, wanted))
          state.gain += change
          for channel in 0..<channels {
            let place = index * channels + channel
            sum[place] += Float(state.waiting[state.start + place]) * state.gain
          }
        }
        state.start += count
        guard isLast else { return state.shrink(channels, to: least) }
        state.isPlaying = false
        state.statistics.underruns += 1
        state.wait(for: min(state.delay + Self.step, least + Self.growth))
      }
    }
  }
}

/// The level of the last 100 ms or so.
private struct LevelMeter: Sendable {
  private var meanSquare = 0.0

  mutating func add(_ new: Double) { meanSquare += (new - meanSquare) * 0.1 }

  var decibels: Double? { meanSquare > 1e-10 ? 10 * log10(meanSquare) : nil }
}

/// Keeps peaks below full scale: at once down, slowly up again. Below full scale samples stay as they are.
private struct Limiter: Sendable {
  private static let ceiling: Float = 32_500
  /// Of what is missing to 1, for each sample: about 100 ms.
  private static let release: Float = 1 / 4_800
  private var gain: Float = 1

  mutating func limit(_ samples: inout [Float], channels: Int) {
    var start = 0
    while start + channels <= samples.count {
      var peak: Float = 0
      for channel in 0..<channels { peak = max(peak, abs(samples[start + channel])) }
      if peak * gain > Self.ceiling { gain = Self.ceiling / peak }
      for channel in 0..<channels { samples[start + channel] *= gain }
      gain += (1 - gain) * Self.release
      if gain > 0.9999 { gain = 1 }
      start += channels
    }
  }
}
