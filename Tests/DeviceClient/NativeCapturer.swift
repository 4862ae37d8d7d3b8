import Dispatch
import SoraCamera
import Synchronization
import WebRTC

/// Counts frames.
private final class Counter: RTCVideoCapturerDelegate {
  private let left: Mutex<Int>
  let done = DispatchSemaphore(value: 0)
  private let sizes = Mutex(Set<String>())

  init(_ frames: Int) { left = Mutex(frames) }

  var seen: [String] { sizes.withLock { $0.sorted() } }

  func capturer(_ capturer: RTCVideoCapturer, didCapture frame: RTCVideoFrame) {
    sizes.withLock { _ = $0.insert("\(frame.width)x\(frame.height)") }
    let isLast = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isLast { done.signal() }
  }
}

/// The capturer of module `WebRTC`.
func native(_ path: String, frames: Int) throws {
  guard let device = RTCCameraVideoCapturer.captureDevices().first(where: { $0.path == path }),
    let format = RTCCameraVideoCapturer.supportedFormats(for: device)
      .first(where: { $0.width == 640 && $0.height == 360 })
  else { throw CameraError.noDevice(path: path) }
  let counter = Counter(frames)
  let capturer = RTCCameraVideoCapturer(delegate: counter)
  var failure: (any Error)?
  capturer.startCapture(with: device, format: format, fps: 25) { failure = $0 }
  if let failure { throw failure }
  counter.done.wait()
  capturer.stopCapture()
  write(["type": "native", "sizes": counter.seen])
}
