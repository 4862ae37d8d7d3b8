import Foundation
import SoraCamera
import SoraClock
import SoraMedia

/// What a camera gave, for a thread that waits for it.
final class FrameQueue: @unchecked Sendable {
  // @unchecked: all state is guarded by the condition.
  private let condition = NSCondition()
  private var frames: [CapturedFrame] = []
  private var events: [CameraCapture.Event] = []

  func add(_ frame: CapturedFrame) {
    condition.lock()
    // What nobody fetches mustn't hold the camera's buffers.
    if frames.count < 2 { frames.append(frame) }
    condition.broadcast()
    condition.unlock()
  }

  func add(_ event: CameraCapture.Event) {
    condition.lock()
    events.append(event)
    condition.broadcast()
    condition.unlock()
  }

  /// The next frame.
  func next(seconds: Double = 20) throws -> CapturedFrame {
    try wait(seconds) { $0.frames.isEmpty ? nil : $0.frames.removeFirst() }
  }

  /// The next event.
  func nextEvent(seconds: Double = 20) throws -> CameraCapture.Event {
    try wait(seconds) { $0.events.isEmpty ? nil : $0.events.removeFirst() }
  }

  private func wait<T>(_ seconds: Double, _ take: (FrameQueue) -> T?) throws -> T {
    let limit = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let found = take(self) { return found }
      guard condition.wait(until: limit) else { throw Missing(seconds: seconds) }
    }
  }

  struct Missing: Error, CustomStringConvertible {
    let seconds: Double
    var description: String { "nothing came within \(seconds) s" }
  }
}

/// A running camera with what it gives.
struct Running {
  let capture: CameraCapture
  let queue: FrameQueue
}

extension CameraDevice {
  /// Starts with the nearest format to a wish.
  func capture(
    _ pixelFormat: String? = nil, width: Int = 640, height: Int = 360, framesPerSecond: Double = 30
  ) throws -> Running {
    let formats = try formats().filter { pixelFormat == nil || "\($0.pixelFormat)" == pixelFormat }
    guard
      let format = formats.nearest(
        width: width, height: height, framesPerSecond: framesPerSecond,
        codec: pixelFormat.flatMap { CameraPixelFormat($0) })
    else {
      throw CameraError.formatRefused(wanted: pixelFormat ?? "a picture", given: "\(formats)")
    }
    let queue = FrameQueue()
    let capture = try CameraCapture(
      self, format: format, framesPerSecond: framesPerSecond, deliver: { queue.add($0) },
      notify: { queue.add($0) })
    return Running(capture: capture, queue: queue)
  }
}

extension CapturedFrame {
  var picture: PixelBuffer? {
    if case .picture(let picture) = content { picture } else { nil }
  }
}
