import Foundation
import SoraAudio
import SoraClock
package import SoraMedia
import Synchronization

/// Sound to publish, 10 ms at a time at 48 kHz on a thread of its own: the test tone, or a file that starts again at its end.
package final class AudioInput: AudioFeed {
  /// Samples a second of what comes out.
  package static let sampleRate = 48_000
  private static let blockFrames = 480
  private static let blockMilliseconds: Int64 = 10
  /// More lateness than this, in blocks, is let go instead of being made up for.
  private static let maximumBehind: Int64 = 100

  /// Why the input ended, where it did.
  package var failure: String? { state.withLock { $0.failure } }
  /// What is wrong with the file, though it can be played; one line.
  package let warning: String?
  /// Whether the input ended by itself.
  package var hasEnded: Bool { thread.withLock { $0?.hasEnded ?? false } }

  private struct State: Sendable {
    var failure: String?
  }
  private let makeSounds: @Sendable () throws -> any Sounds
  private let state = Mutex(State())
  private let thread = Mutex<PacedThread?>(nil)

  /// - Parameter framesPerSecond: of the video that the tone's beeps belong to.
  /// - Returns: nil where no audio is wanted, or a microphone's, which the SDK has, or a film's (`FilmInput`).
  package init?(_ choice: AudioChoice, framesPerSecond: Double) throws(UsageError) {
    switch choice {
    case .none, .microphone, .film: return nil
    case .tone:
      warning = nil
      makeSounds = { ToneSounds(framesPerSecond: framesPerSecond) }
    case .file(let path):
      do {
        warning = try Self.warning(of: WAVSource(path: path), path)
      } catch {
        throw UsageError("--audio \(path): \(error)")
      }
      makeSounds = { try FileSounds(path: path) }
    }
  }

  private static func warning(of source: WAVSource, _ path: String) -> String? {
    guard let declared = source.declaredDuration, declared > source.duration else { return nil }
    return "--audio \(path): the file is cut: its header says \(declared.inOneDigit) s, "
      + "\(source.duration.inOneDigit) s are there and played; copy or record it again"
  }

  /// Starts giving sound to `deliver`, on the input's thread. A block is due when its last sample would have been
  /// captured; its timestamp is that of the first.
  package func start(at start: Instant, deliver: @escaping @Sendable (AudioFrame) -> Void) {
    let due: @Sendable (Int64) -> Instant = { n in
      start + .milliseconds((n + 1) * Self.blockMilliseconds)
    }
    let sounds = Mutex<(any Sounds)?>(nil)
    let made = PacedThread(name: "audio input", deadline: due) { [self] turn in
      do {
        let (samples, channels) = try sounds.withLock { sounds in
          let source = try sounds ?? makeSounds()
          sounds = source
          return (try source.block(turn, frames: Self.blockFrames), source.channels)
        }
        deliver(
          AudioFrame(
            samples: samples, sampleRate: Self.sampleRate, channels: channels,
            timestamp: due(turn - 1)))
      } catch {
        state.withLock { $0.failure = "\(error)".inOneLine }
        return nil
      }
      let behind =
        (SystemClock.now - due(turn + 1)).wholeNanoseconds / 1_000_000
        / Self.blockMilliseconds
      return turn + 1 + (behind > Self.maximumBehind ? behind : 0)
    }
    thread.withLock { $0 = made }
  }

  package func start(at start: Instant, publish: @escaping @Sendable (PublishedSound) -> Void) {
    self.start(at: start, deliver: { publish(.raw($0)) })
  }

  /// Ends the input and waits for its last block.
  package func stop() { thread.withLock { $0 }?.stop() }
}

extension Duration {
  /// Seconds with one digit after the point.
  fileprivate var inOneDigit: String { String(format: "%.1f", inSeconds) }
}

/// Where sound comes from. Used by one thread at a time.
private protocol Sounds: AnyObject, Sendable {
  var channels: Int { get }
  /// Block `index`, counted from 0; some may be left out.
  func block(_ index: Int64, frames: Int) throws -> [Int16]
}

private final class ToneSounds: Sounds, @unchecked Sendable {
  // @unchecked: `AudioInput` reaches it through a mutex only.
  private var tone: ToneSource

  init(framesPerSecond: Double) {
    tone = ToneSource(
      sampleRate: AudioInput.sampleRate, channels: 2, framesPerSecond: framesPerSecond)
  }

  var channels: Int { tone.channels }

  func block(_ index: Int64, frames: Int) -> [Int16] {
    // Says where in time it is, so that beeps stay with their frames when blocks were left out.
    tone.position = index * Int64(frames)
    var samples = [Int16](repeating: 0, count: frames * tone.channels)
    var output = samples.mutableSpan
    tone.read(into: &output)
    return samples
  }
}

private final class FileSounds: Sounds, @unchecked Sendable {
  // @unchecked: `AudioInput` reaches it through a mutex only.
  private let source: WAVSource

  init(path: String) throws { source = try WAVSource(path: path) }

  var channels: Int { source.channels }

  func block(_ index: Int64, frames: Int) throws -> [Int16] {
    var samples = [Int16](repeating: 0, count: frames * source.channels)
    var output = samples.mutableSpan
    _ = try source.read(into: &output)
    return samples
  }
}
