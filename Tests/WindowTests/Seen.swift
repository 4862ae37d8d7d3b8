import Foundation
import SoraMedia
import SoraScreen
import SoraView
import Synchronization

/// What a capture gave, for those who wait for it.
final class Seen: Sendable {
  private struct State {
    var frames: [RawVideoFrame] = []
    var events: [ScreenCapture.Event] = []
  }
  private let state = Mutex(State())

  func capture(
    _ source: ScreenSource, _ settings: ScreenCaptureSettings
  ) throws -> ScreenCapture {
    try ScreenCapture(
      source, settings: settings,
      deliver: { frame in self.state.withLock { $0.frames.append(frame) } },
      notify: { event in self.state.withLock { $0.events.append(event) } })
  }

  var frames: [RawVideoFrame] { state.withLock { $0.frames } }
  var events: [ScreenCapture.Event] { state.withLock { $0.events } }

  /// Waits, for half a minute at most.
  func wait(until isThere: (Seen) -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: 30)
    while !isThere(self), Date() < end { Thread.sleep(forTimeInterval: 0.01) }
    return isThere(self)
  }

  /// Waits until the newest frame has a colour, but for what halving the colours' resolution makes of it.
  func wait(for color: [Int], at x: Int, _ y: Int) -> Bool {
    wait { seen in
      guard let frame = seen.frames.last, x < frame.width, y < frame.height else { return false }
      let image = RGBImage(frame.buffer, colorSpace: frame.colorSpace)
      return zip(image[x, y], color).allSatisfy { abs(Int($0) - $1) <= 6 }
    }
  }
}
