import Foundation
import SoraScreen
import SoraSDK
import Synchronization
import TestPrograms
import Testing

/// `ScreenVideoCapturer` of the SDK, with a virtual display.
@Suite(
  .timeLimit(.minutes(2)), .enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
struct ScreenCapturerTests {
  @Test func framesPassTheAppUntilTheDisplayGoes() async throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    let capturer = ScreenVideoCapturer(source: .screen(try .find(display: display.name)))
    let (told, continuation) = AsyncStream.makeStream(of: String.self)
    capturer.handlers.onStart = { _ in continuation.yield("start") }
    capturer.handlers.onCapture = { _, frame in
      continuation.yield("\(frame.width)x\(frame.height)")
      return frame
    }
    capturer.handlers.onStop = { _ in continuation.yield("stop") }
    try await capturer.start(settings: .init(repeatInterval: .milliseconds(50)))
    #expect(capturer.isRunning)
    await #expect(throws: SoraError.self) { try await capturer.start() }
    var events = told.makeAsyncIterator()
    #expect(await events.next() == "start")
    #expect(await events.next() == "64x48")
    try await capturer.stop()
    #expect(!capturer.isRunning)
    await #expect(throws: SoraError.self) { try await capturer.stop() }
    try await capturer.start(settings: .init(repeatInterval: .milliseconds(50)))
    display.stop()
    // Twice: it was stopped, and it has ended by itself.
    var stops = 0
    while stops < 2, let event = await events.next() { stops += event == "stop" ? 1 : 0 }
    #expect(stops == 2 && !capturer.isRunning)
    // A number that nobody takes: that of the display may be another's by now.
    let nowhere = ScreenVideoCapturer(
      source: .area(PixelRectangle(x: 0, y: 0, width: 64, height: 48), display: ":4999"))
    await #expect(throws: ScreenError.noDisplay(name: ":4999")) { try await nowhere.start() }
  }

  @Test func oneThatIsLetGoCapturesNoMore() async throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    try await beginAndForget(display)
    #expect(try await waits { try display.connections == 0 })
  }

  private func beginAndForget(_ display: VirtualDisplay) async throws {
    let capturer = ScreenVideoCapturer(source: .screen(try .find(display: display.name)))
    try await capturer.start(settings: .init(repeatInterval: .milliseconds(50)))
    #expect(try await waits { try display.connections > 0 })
    // Held until here.
    #expect(capturer.isRunning)
  }

  /// Waits, for half a minute at most.
  private func waits(until isThere: () throws -> Bool) async throws -> Bool {
    let end = Date(timeIntervalSinceNow: 30)
    while Date() < end {
      if try isThere() { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return false
  }
}
