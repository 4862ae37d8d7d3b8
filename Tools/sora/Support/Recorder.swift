import Dispatch
import SoraAudio
package import SoraMedia
import SoraView
import Synchronization

/// Writes one stream's pictures to a Y4M file and its sound to a WAV file, on a queue of its own. Safe from any thread.
package final class Recorder: Sendable {
  /// What was written, and what wasn't.
  package struct Outcome: Sendable, Equatable {
    package var frames = 0
    package var audioSeconds = 0.0
    /// Frames left out because the disk was too slow, or their size was another than the first one's.
    package var framesLeftOut = 0
    /// Why writing ended early.
    package var failure: String?
  }

  private struct State {
    var waitingFrames = 0
    var outcome = Outcome()
  }

  /// A second or so: more would fill the memory when the disk stalls.
  private static let maximumWaiting = 30
  private let queue = DispatchQueue(label: "sora.record", qos: .utility)
  private let state = Mutex(State())
  private let files: Files
  private let recordsVideo: Bool
  private let recordsAudio: Bool

  /// Creates the files. The WAV file gets its rate and channels with the first block.
  ///
  /// - Parameter framesPerSecond: what the Y4M file's header says: the format has no times of single frames. nil takes
  ///   the rate at which the first frames came.
  /// - Returns: nil where nothing is to be recorded.
  package init?(_ paths: RecordFiles, framesPerSecond: Double?) throws(UsageError) {
    guard paths.video != nil || paths.audio != nil else { return nil }
    recordsVideo = paths.video != nil
    recordsAudio = paths.audio != nil
    do {
      files = try Files(paths, framesPerSecond: framesPerSecond)
    } catch {
      throw UsageError("--record: \(error)")
    }
  }

  package func add(_ frame: RawVideoFrame) {
    guard recordsVideo else { return }
    let hasRoom = state.withLock { state in
      guard state.outcome.failure == nil else { return false }
      guard state.waitingFrames < Self.maximumWaiting else {
        state.outcome.framesLeftOut += 1
        return false
      }
      state.waitingFrames += 1
      return true
    }
    guard hasRoom else { return }
    queue.async { [self] in
      let failure = files.write(frame)
      state.withLock { state in
        state.waitingFrames -= 1
        note(failure, &state)
      }
    }
  }

  package func add(_ block: AudioFrame) {
    guard recordsAudio, state.withLock({ $0.outcome.failure == nil }) else { return }
    queue.async { [self] in
      let failure = files.write(block)
      state.withLock { note(failure, &$0) }
    }
  }

  /// Writes what is waiting, closes the files, and says what came of it.
  package func finish() -> Outcome {
    queue.sync {
      let failure = files.close()
      return state.withLock { state in
        note(failure, &state)
        state.outcome.frames = files.frames
        state.outcome.framesLeftOut += files.framesOfAnotherSize
        state.outcome.audioSeconds = files.audioSeconds
        return state.outcome
      }
    }
  }

  private func note(_ failure: String?, _ state: inout State) {
    if state.outcome.failure == nil { state.outcome.failure = failure }
  }

  /// The open files; after `init` used on the queue alone.
  private final class Files: @unchecked Sendable {
    // @unchecked: see above.
    private let videoPath: String?
    private let framesPerSecond: Double?
    private var video: Y4MWriter?
    /// The first frames, until their rate is known.
    private var firstFrames: [RawVideoFrame] = []
    private let audioPath: String?
    private var audio: WAVWriter?
    private(set) var frames = 0
    private(set) var framesOfAnotherSize = 0
    private(set) var audioSeconds = 0.0

    /// Enough to see a rate through jitter; more would hold too many of a decoder's pictures.
    private static let framesToMeasure = 8

    init(_ paths: RecordFiles, framesPerSecond: Double?) throws {
      videoPath = paths.video
      self.framesPerSecond = framesPerSecond
      // Opened now, so that a path that can't be written is wrong usage and not a surprise at the end.
      if let path = paths.video { _ = try Y4MWriter(path: path, framesPerSecond: 30) }
      audioPath = paths.audio
      audio = try paths.audio.map { try WAVWriter(path: $0, sampleRate: 48_000, channels: 2) }
    }

    func write(_ frame: RawVideoFrame) -> String? {
      do {
        if let video {
          try video.write(frame.buffer)
          return nil
        }
        firstFrames.append(frame)
        if framesPerSecond != nil || firstFrames.count == Self.framesToMeasure {
          try beginVideo()
        }
        return nil
      } catch {
        return "\(error)"
      }
    }

    private func beginVideo() throws {
      guard let videoPath, video == nil, !firstFrames.isEmpty else { return }
      let made = try Y4MWriter(
        path: videoPath, framesPerSecond: max(1, Int((framesPerSecond ?? measuredRate).rounded())))
      video = made
      for frame in firstFrames { try made.write(frame.buffer) }
      firstFrames = []
    }

    /// From the middle one of the intervals.
    private var measuredRate: Double {
      let intervals = zip(firstFrames, firstFrames.dropFirst())
        .map { ($1.timestamp - $0.timestamp).inSeconds }
        .filter { $0 > 0 }
        .sorted()
      return intervals.isEmpty ? 30 : min(240, 1 / intervals[intervals.count / 2])
    }

    func write(_ block: AudioFrame) -> String? {
      do {
        if let open = audio, open.frameCount == 0,
          open.sampleRate != block.sampleRate || open.channels != block.channels,
          let audioPath
        {
          try open.close()
          audio = try WAVWriter(
            path: audioPath, sampleRate: block.sampleRate, channels: block.channels)
        }
        guard let audio, audio.sampleRate == block.sampleRate, audio.channels == block.channels
        else { return "the sound changed from one format to another; record again" }
        try block.samples.withUnsafeBufferPointer { try audio.write($0) }
        return nil
      } catch {
        return "\(error)"
      }
    }

    func close() -> String? {
      defer { video = nil }
      do {
        try beginVideo()
        frames = video?.framesWritten ?? frames
        framesOfAnotherSize = video?.framesOfAnotherSize ?? framesOfAnotherSize
        try video?.flush()
        if let audio {
          audioSeconds = Double(audio.frameCount) / Double(audio.sampleRate)
          try audio.close()
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
  }
}
