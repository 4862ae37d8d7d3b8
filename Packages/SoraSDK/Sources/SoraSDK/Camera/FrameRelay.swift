import SoraMedia
import Synchronization

/// Hands frames from the thread that captures to the camera's queue. One waits at most: a newer one takes its place.
final class FrameRelay: Sendable {
  private let waiting = Mutex<VideoFrame?>(nil)
  private let receive: @Sendable (FrameRelay, VideoFrame) -> Void

  /// - Parameter receive: takes each frame on the camera's queue.
  init(_ receive: @escaping @Sendable (FrameRelay, VideoFrame) -> Void) { self.receive = receive }

  /// From the thread that captures. Never waits.
  func offer(_ frame: VideoFrame) {
    guard exchange(frame) == nil else { return }
    SoraDispatcher.async(on: .camera) { [self] in
      if let frame = exchange(nil) { receive(self, frame) }
    }
  }

  /// Forgets what waits, when nothing is captured any more.
  func clear() { _ = exchange(nil) }

  /// What waited is released by the caller, without the lock: its memory goes back to the driver.
  private func exchange(_ frame: VideoFrame?) -> VideoFrame? {
    waiting.withLock { waiting in
      let old = waiting
      waiting = frame
      return old
    }
  }
}
