import Foundation
import SoraSDK
import Synchronization

/// The SDK's capturers on the machine's first two cameras: start, change, flip, flip back and stop, so many times; frames must have come
/// from each.
func useCapturers(times: Int) async throws {
  Logger.shared.printsToStandardError = false
  let counts = Mutex<[String: Int]>([:])
  let started = Mutex(0)
  let stopped = Mutex(0)
  CameraVideoCapturer.handlers.onCapture = { capturer, frame in
    counts.withLock {
      $0["\(capturer.device.path) \(frame.width)x\(frame.height)", default: 0] += 1
    }
    return frame
  }
  CameraVideoCapturer.handlers.onStart = { _ in started.withLock { $0 += 1 } }
  CameraVideoCapturer.handlers.onStop = { _ in stopped.withLock { $0 += 1 } }
  guard let front = CameraVideoCapturer.front, let back = CameraVideoCapturer.back,
    let large = CameraVideoCapturer.format(
      width: 640, height: 360, for: front.device, frameRate: 30),
    let small = CameraVideoCapturer.format(
      width: 320, height: 180, for: front.device, frameRate: 30)
  else { throw SoraError.cameraError(reason: "there aren't two cameras") }

  /// Waits until frames come from a camera, of a size.
  func wait(_ capturer: CameraVideoCapturer, _ width: Int) async throws {
    let before = counts.withLock { $0 }
    func isNew() -> Bool {
      counts.withLock { now in
        now.contains {
          $0.key.hasPrefix("\(capturer.device.path) \(width)x")
            && $0.value > before[$0.key, default: 0]
        }
      }
    }
    while !isNew() { try await Task.sleep(for: .milliseconds(5)) }
  }

  for _ in 0..<times {
    try await front.start(format: large, frameRate: 30)
    try await wait(front, 640)
    try await front.change(format: small, frameRate: 30)
    try await wait(front, 320)
    try await CameraVideoCapturer.flip(front)
    try await wait(back, 320)
    try await CameraVideoCapturer.flip(back)
    try await wait(front, 320)
    try await front.stop()
  }
  write([
    "type": "capturer", "sources": counts.withLock { Array($0.keys) }.sorted(),
    "started": started.withLock { $0 }, "stopped": stopped.withLock { $0 },
    "isRunning": front.isRunning || back.isRunning, "current": CameraVideoCapturer.current != nil,
  ])
}
