import Dispatch
import Foundation
package import SoraMedia
import SoraView
import Synchronization

/// Saves one picture of a stream as PNG: the first that comes two seconds after the first one, when rate control has
/// settled, or the last one where the call is shorter. Safe from any thread.
package final class SnapshotKeeper: Sendable {
  private struct State {
    /// The stream whose picture came last, and its first one's time.
    var source: String?
    var first: Instant?
    var latest: RawVideoFrame?
    var isDone = false
    var failure: String?
  }

  private static let settling = Duration.seconds(2)
  package let path: String
  private let queue = DispatchQueue(label: "sora.snapshot", qos: .utility)
  private let state = Mutex(State())

  /// - Parameter path: a file whose folder exists and can be written to.
  package init(path: String) throws(UsageError) {
    guard path.lowercased().hasSuffix(".png") else {
      throw UsageError("--snapshot \(path): end the name in .png")
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard unsafe access(folder, W_OK) == 0 else {
      throw UsageError(
        "--snapshot \(path): cannot write to \(folder): \(unsafe String(cString: strerror(errno)))")
    }
    self.path = path
  }

  /// - Parameter source: names the stream; another one has a rate control of its own to settle.
  package func add(_ frame: RawVideoFrame, at now: Instant, of source: String = "") {
    let picture = state.withLock { state -> RawVideoFrame? in
      guard !state.isDone else { return nil }
      if state.first == nil || state.source != source {
        state.first = now
        state.source = source
      }
      guard let first = state.first, now - first >= Self.settling else {
        state.latest = frame
        return nil
      }
      state.isDone = true
      state.latest = nil
      return frame
    }
    if let picture { queue.async { self.write(picture) } }
  }

  /// Writes the last picture if none was written yet. Returns why there is no file, where there is none.
  package func finish() -> String? {
    queue.sync {
      let picture = state.withLock { state in
        defer {
          state.latest = nil
          state.isDone = true
        }
        return state.latest
      }
      if let picture { write(picture) }
      return state.withLock { state in
        state.first == nil ? "no picture came for the snapshot" : state.failure
      }
    }
  }

  private func write(_ picture: RawVideoFrame) {
    do {
      try PNGWriter.write(picture.buffer, to: path, colorSpace: picture.colorSpace)
    } catch {
      state.withLock { $0.failure = "\(error)" }
    }
  }
}
