import Foundation
import SoraAudio
import SoraAudioDevices
package import SoraMedia
import Synchronization

/// Sound to publish, 10 ms at a time at 48 kHz on a thread of its own: the test tone, or a file that starts again at its end.
package final class AudioInput: AudioFeed {
  /// Samples a second of what comes out.
  package static let sampleRate = 48_000

  /// Why the input ended, where it did.
  package var failure: String? { state.withLock { $0.failure } }
  /// What is wrong with the file, though it can be played; one line.
  package let warning: String?
  /// Whether the input ended by itself.
  package var hasEnded: Bool { failure != nil || source.withLock { $0?.hasEnded ?? false } }

  private struct State: Sendable {
    var failure: String?
  }
  private let makeSounds: @Sendable () throws -> any Sounds
  private let state = Mutex(State())
  private let source = Mutex<AudioPullSource?>(nil)

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
    let sounds: any Sounds
    do {
      sounds = try makeSounds()
    } catch {
      return state.withLock { $0.failure = "\(error)".inOneLine }
    }
    let made = AudioPullSource(
      sampleRate: Self.sampleRate, channels: sounds.channels, at: start,
      fill: { [self] frame, position in
        do {
          var output = frame.samples.mutableSpan
          try sounds.read(into: &output, at: position)
          return true
        } catch {
          state.withLock { $0.failure = "\(error)".inOneLine }
          return false
        }
      }, deliver: deliver)
    source.withLock { $0 = made }
  }

  package func start(at start: Instant, publish: @escaping @Sendable (PublishedSound) -> Void) {
    self.start(at: start, deliver: { publish(.raw($0)) })
  }

  /// Ends the input and waits for its last block.
  package func stop() { source.withLock { $0 }?.stop() }
}

extension Duration {
  /// Seconds with one digit after the point.
  fileprivate var inOneDigit: String { String(format: "%.1f", inSeconds) }
}

/// Where sound comes from. Used by one thread at a time.
private protocol Sounds: AnyObject, Sendable {
  var channels: Int { get }
  /// Puts what comes next in the place of silence; `position` counts the samples of each channel before it, some of which may have been
  /// left out.
  func read(into output: inout MutableSpan<Int16>, at position: Int64) throws
}

private final class ToneSounds: Sounds, @unchecked Sendable {
  // @unchecked: only the thread of `AudioPullSource` reads.
  private var tone: ToneSource

  init(framesPerSecond: Double) {
    tone = ToneSource(
      sampleRate: AudioInput.sampleRate, channels: 2, framesPerSecond: framesPerSecond)
  }

  var channels: Int { tone.channels }

  func read(into output: inout MutableSpan<Int16>, at position: Int64) {
    // Says where in time it is, so that beeps stay with their frames when blocks were left out.
    tone.position = position
    tone.read(into: &output)
  }
}

private final class FileSounds: Sounds, @unchecked Sendable {
  // @unchecked: only the thread of `AudioPullSource` reads.
  private let source: WAVSource

  init(path: String) throws { source = try WAVSource(path: path) }

  var channels: Int { source.channels }

  func read(into output: inout MutableSpan<Int16>, at position: Int64) throws {
    _ = try source.read(into: &output)
  }
}
