public import SoraAudio
import SoraClock
package import SoraMedia
import Synchronization

/// Lets an app pull the sound of others when it wants it, as much as it wants: for a loudspeaker of its own, a recognizer, a telephone line.
///
/// The mixer that is read has an input for each stream (`stream.addAudioSink(mixer.makeInput())`). Who reads may go by a clock of its own,
/// which is followed as a loudspeaker's is. What is heard is later by as much as is read at once; the first time, that much is silent. Reading
/// never waits. Safe from any thread.
public final class AudioReader: Sendable {
  private struct State {
    var reader: DriftReader
    /// To the wanted rate.
    var resampler: AudioResampler?
    var resampled: [Int16] = []
    /// The most that was read at once of late, at 48 kHz, and when.
    var most = 0
    var mostTime = Instant.zero
  }
  /// How long a reader that has read much at once is expected to do so again.
  private static let memory = Duration.seconds(5)

  /// Samples a second of each channel.
  public let sampleRate: Int
  private let mixer: AudioMixer
  private let state: Mutex<State>

  /// - Parameters:
  ///   - mixer: what is read; by nobody else. It has as many channels as come out.
  ///   - sampleRate: Hz.
  /// - Returns: nil where the rate is outside of 4,000...384,000 Hz.
  public init?(_ mixer: AudioMixer, sampleRate: Int = 48_000) {
    let resampler = AudioResampler(
      inputRate: 48_000, outputRate: sampleRate, channels: mixer.channels)
    guard let resampler else { return nil }
    self.mixer = mixer
    self.sampleRate = sampleRate
    state = Mutex(
      State(
        reader: DriftReader(channels: mixer.channels),
        resampler: sampleRate == 48_000 ? nil : resampler))
  }

  /// Fills `samples` with what comes next: interleaved, silence where nothing came in time.
  ///
  /// - Parameter samples: a multiple of the mixer's channels; what is left over is silent.
  public func read(into samples: inout MutableSpan<Int16>) {
    read(into: &samples, at: SystemClock.now)
  }

  package func read(into samples: inout MutableSpan<Int16>, at now: Instant) {
    let whole = samples.count / mixer.channels * mixer.channels
    state.withLock { state in
      let wanted = whole / mixer.channels * 48_000 / sampleRate
      if wanted >= state.most || now - state.mostTime > Self.memory {
        (state.most, state.mostTime) = (wanted, now)
        mixer.willRead(wanted)
      }
      if state.resampler == nil {
        state.reader.read(whole / mixer.channels, at: now, from: mixer.read) { read in
          for index in 0..<whole { samples[index] = read[index] }
        }
      } else {
        while state.resampled.count < whole {
          state.reader.read(480, at: now, from: mixer.read) { read in
            state.resampler?.process(read, into: &state.resampled)
          }
        }
        for index in 0..<whole { samples[index] = state.resampled[index] }
        state.resampled.removeFirst(whole)
      }
      if !state.reader.follow(at: now) { state.reader.restart() }
    }
    for index in whole..<samples.count { samples[index] = 0 }
  }

  /// By how many millionths the reader's clock is slower than the machine's, as far as it is known. It is made up for.
  public var driftPPM: Double { state.withLock { $0.reader.driftPPM } }
}
