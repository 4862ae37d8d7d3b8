import SoraAudio
import SoraMedia

/// Sound for a clock of its own from a source that goes by the machine's: asks that for 10 ms at 48 kHz at a time, and stretches it by what the
/// clocks differ.
struct DriftReader {
  private var frame: AudioFrame
  private var resampler: VariableRateResampler
  private var drift = ClockDrift()
  private var waiting: [Int16] = []
  /// Samples of each channel that the source gave, since the count of the drift began.
  private(set) var samples = 0

  init(channels: Int) {
    resampler = VariableRateResampler(channels: channels)
    frame = AudioFrame(
      samples: [Int16](repeating: 0, count: 480 * channels), sampleRate: 48_000,
      channels: channels, timestamp: .zero)
  }

  /// By how many millionths the clock that is read for is too slow, as far as it is known.
  var driftPPM: Double { drift.drift * 1e6 }

  /// Gives `body` what comes next.
  ///
  /// - Parameters:
  ///   - count: samples of each channel.
  ///   - now: when the first of them is heard; the timestamps that the source gets follow from it.
  ///   - fill: the source; puts samples in the place of silence.
  mutating func read(
    _ count: Int, at now: @autoclosure () -> Instant, from fill: (inout AudioFrame) -> Void,
    _ body: (Span<Int16>) -> Void
  ) {
    let channels = frame.channels
    while waiting.count < count * channels {
      for index in frame.samples.indices { frame.samples[index] = 0 }
      frame.timestamp = now() + .nanoseconds(Int64(waiting.count / channels) * 20_833)
      fill(&frame)
      samples += 480
      let given = frame.samples
      resampler.process(given.span, step: 1 + drift.correction, into: &waiting)
    }
    body(waiting.span.extracting(..<(count * channels)))
    waiting.removeFirst(count * channels)
  }

  /// Compares what was read with the machine's clock.
  ///
  /// - Returns: false where the clock that is read for has stood still, or has leapt: the count begins anew with `restart`.
  mutating func follow(at now: Instant) -> Bool {
    drift.update(
      samples: Double(samples) - Double(waiting.count / frame.channels), at: now)
  }

  /// Begins a new count, with what is known of the clock.
  mutating func restart() {
    drift.restart()
    samples = 0
  }
}
