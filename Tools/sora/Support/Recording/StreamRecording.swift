package import SoraMedia
import SoraRecording
import Synchronization

/// Records a stream as it comes, without encoding it again; another one that takes its place goes on in the same file. Safe
/// from any thread.
package final class StreamRecording: Sendable {
  private let recorder: MediaRecorder
  /// The stream whose frames come; nil before the first.
  private let source = Mutex<String?>(nil)

  /// Creates the file; what lies there stays until there is something to record.
  ///
  /// - Parameters:
  ///   - path: its ending says how it is written.
  ///   - hasVideo: whether pictures are wanted.
  ///   - hasAudio: whether sound is.
  package init(path: String, hasVideo: Bool, hasAudio: Bool) throws(UsageError) {
    var settings = MediaRecorder.Settings()
    settings.hasVideo = hasVideo
    settings.hasAudio = hasAudio
    do throws(MediaFileError) {
      recorder = try MediaRecorder(path: path, settings: settings)
    } catch {
      throw UsageError("--record: \(error)")
    }
  }

  /// Takes a frame; returns at once.
  ///
  /// - Parameters:
  ///   - frame: of the stream that is recorded.
  ///   - streamId: names the stream.
  ///   - requestKeyFrame: asks its sender for a key frame.
  package func add(
    _ frame: EncodedTrackFrame, of streamId: String,
    requestKeyFrame: @escaping @Sendable () -> Void
  ) {
    let isNew = source.withLock { source in
      defer { source = streamId }
      return source != streamId
    }
    if isNew {
      recorder.attached(to: .audio, requestKeyFrame: {})
      recorder.attached(to: .video, requestKeyFrame: requestKeyFrame)
    }
    recorder.receive(frame)
  }

  /// Why recording ended early; nil while all is well.
  package var failure: String? { recorder.outcome.failure.map { "\($0)" } }

  /// Writes the file's end. Returns what went wrong.
  package func finish() -> [String] {
    let outcome = recorder.finish()
    if let failure = outcome.failure { return ["--record: \(failure)"] }
    guard outcome.framesTooMany == 0 else {
      return [
        "--record: \(outcome.framesTooMany) frames left out: the disk was too slow; use a faster one"
      ]
    }
    return []
  }
}
