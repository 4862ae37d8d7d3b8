import Dispatch
import Foundation
package import SoraMedia
import SoraRecording
import Synchronization

/// Records all streams of a channel in a folder, without encoding them again. Safe from any thread.
package final class ChannelRecording: Sendable {
  private let recorder: SessionRecorder
  private let errors = Mutex<[String]>([])
  /// The folder where it wasn't there before.
  private let made: String?

  /// Makes the folder where it isn't there; it goes again where nothing is recorded.
  package init(folder: String, channelID: String) throws(UsageError) {
    made = FileManager.default.fileExists(atPath: folder) ? nil : folder
    do throws(MediaFileError) {
      recorder = SessionRecorder(in: try RecordingFolder(folder), channelID: channelID)
    } catch {
      throw UsageError("--record: \(error)")
    }
    recorder.onFailure = { [weak self] error in
      self?.errors.withLock { $0.append("\(error)") }
    }
  }

  /// What a stream's frames are given to.
  package func sink(of streamId: String) -> any EncodedFrameSink {
    recorder.sink(connectionID: streamId)
  }

  /// A stream is gone: its file ends.
  package func end(_ streamId: String) { recorder.end(connectionID: streamId) }

  /// Why a file ended early, the first of them; nil while all is well.
  package var failure: String? { errors.withLock { $0.first } }

  /// Writes all ends. Returns what went wrong.
  package func finish() -> [String] {
    let done = DispatchSemaphore(value: 0)
    recorder.finish { _ in done.signal() }
    done.wait()
    if let made, (try? FileManager.default.contentsOfDirectory(atPath: made))?.isEmpty == true {
      try? FileManager.default.removeItem(atPath: made)
    }
    return errors.withLock { $0 }.map { "--record: \($0)" }
  }
}
