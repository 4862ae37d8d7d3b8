import Dispatch
package import SoraMedia
import Synchronization

/// Writes pictures to a Y4M file and sound to a WAV file, on a queue of its own. Safe from any thread.
///
/// Both files have the times of what they were given: pictures are repeated or left out so that each stands at its own
/// time in a film of constant rate, and where no sound came there is silence. Gaps are cut to
/// `RecordTimeline.longestGap`.
package final class Recorder: Sendable {
  /// What was written, and what wasn't.
  package struct Outcome: Sendable, Equatable {
    /// Frames of the film, repeated ones included.
    package var frames = 0
    /// Frames that show the one before once more.
    package var framesRepeated = 0
    package var audioSeconds = 0.0
    /// Pictures that came sooner after another than the film's rate shows.
    package var picturesBetween = 0
    /// Pictures left out because the disk was too slow; the one before them stays in their place.
    package var picturesTooMany = 0
    /// Seconds that were cut out of long gaps.
    package var secondsCut = 0.0
    /// Why writing ended early.
    package var failure: String?
  }

  private struct State {
    var waitingFrames = 0
    var outcome = Outcome()
  }

  /// The film's rate where nobody wants another.
  package static let standardRate = 30.0
  /// A second or so: more would fill the memory when the disk stalls.
  private static let maximumWaiting = 30
  private let queue = DispatchQueue(label: "sora.record", qos: .utility)
  private let state = Mutex(State())
  private let video: FilmFile?
  private let audio: SoundFile?

  /// Looks whether the files can be written; each is made when something comes for it.
  ///
  /// - Parameter framesPerSecond: of the film; nil for `standardRate`.
  /// - Returns: nil where nothing is to be recorded.
  package init?(_ paths: RecordFiles, framesPerSecond: Double?) throws(UsageError) {
    guard paths.video != nil || paths.audio != nil else { return nil }
    let rate = framesPerSecond ?? Self.standardRate
    for path in [paths.video, paths.audio] {
      if let path { try RecordedPath.check(path) }
    }
    video = paths.video.map { FilmFile(path: $0, framesPerSecond: rate) }
    audio = paths.audio.map { SoundFile(path: $0) }
  }

  /// Why writing ended early; nil while all is well.
  package var failure: String? { state.withLock { $0.outcome.failure } }

  package func add(_ frame: RawVideoFrame) {
    guard let video else { return }
    let hasRoom = state.withLock { state in
      guard state.outcome.failure == nil else { return false }
      guard state.waitingFrames < Self.maximumWaiting else {
        state.outcome.picturesTooMany += 1
        return false
      }
      state.waitingFrames += 1
      return true
    }
    guard hasRoom else { return }
    queue.async { [self] in
      write { try video.add(frame) }
      state.withLock { $0.waitingFrames -= 1 }
    }
  }

  package func add(_ block: AudioFrame) {
    guard let audio, failure == nil else { return }
    queue.async { [self] in write { try audio.add(block) } }
  }

  /// Writes what is waiting, closes the files, and says what came of it.
  package func finish() -> Outcome {
    queue.sync {
      if let video {
        write { try video.close() }
        state.withLock { state in
          state.outcome.frames = video.frames
          state.outcome.framesRepeated = video.framesRepeated
          state.outcome.picturesBetween = video.picturesBetween
          state.outcome.secondsCut = video.secondsCut
        }
      }
      if let audio {
        write { try audio.close() }
        state.withLock { $0.outcome.audioSeconds = audio.seconds }
      }
      return state.withLock { $0.outcome }
    }
  }

  /// Runs `body` where nothing failed before it: what fails later is a consequence.
  private func write(_ body: () throws -> Void) {
    guard failure == nil else { return }
    do {
      try body()
    } catch {
      state.withLock { $0.outcome.failure = "\(error)".inOneLine }
    }
  }
}
