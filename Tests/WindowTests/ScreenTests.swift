import Foundation
import SoraMedia
import SoraScreen
import SoraView
import Synchronization
import TestPrograms
import Testing

/// Screens of a virtual display, captured.
@Suite(
  .timeLimit(.minutes(3)), .enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
struct ScreenTests {
  private let red = [255, 0, 0]
  private let green = [0, 255, 0]
  private let blue = [0, 0, 255]
  /// Nothing comes again while a test runs, and no pointer disturbs.
  private let still = ScreenCaptureSettings(showsCursor: false, repeatInterval: .seconds(1_000))

  @Test(arguments: [nil, "MIT-SHM", "DAMAGE", "RANDR"])
  func framesComeWithChanges(lacking: String?) throws {
    let display = try VirtualDisplay(width: 320, height: 240, lacking: lacking)
    try display.fill(0, 0, 320, 240, blue)
    let screen = try ScreenDevice.find(display: display.name)
    #expect(screen.frame == PixelRectangle(x: 0, y: 0, width: 320, height: 240))
    #expect(screen.isPrimary)
    let seen = Seen()
    let capture = try seen.capture(.screen(screen), still)
    #expect(capture.sharesMemory == (lacking != "MIT-SHM"))
    #expect(seen.wait(for: blue, at: 100, 100))
    let before = seen.frames.count
    if lacking != "DAMAGE" {
      // One picture was drawn, and perhaps one more told that had been drawn before.
      #expect(before <= 2, "\(before) frames")
    }
    try display.fill(40, 30, 80, 60, red)
    try display.fill(200, 201, 20, 20, green)
    #expect(seen.wait(for: red, at: 60, 50))
    #expect(seen.wait(for: green, at: 210, 210))
    let image = RGBImage(seen.frames[seen.frames.count - 1].buffer)
    #expect(image[20, 50] == image[300, 220], "what was there before stays")
    capture.stop()
    #expect(seen.events.isEmpty)
    let times = seen.frames.map(\.timestamp)
    #expect(times == times.sorted())
    #expect(capture.statistics.frames == seen.frames.count)
    #expect(capture.statistics.framesRepeated == 0)
  }

  @Test func theLastFrameComesAgain() throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    let seen = Seen()
    let capture = try seen.capture(
      .screen(.find(display: display.name)),
      .init(showsCursor: false, repeatInterval: .milliseconds(50)))
    #expect(seen.wait { $0.frames.count >= 5 })
    capture.stop()
    #expect(capture.statistics.framesRepeated >= 3)
    let frames = seen.frames
    #expect(frames[3].buffer === frames[4].buffer && frames[3].timestamp < frames[4].timestamp)
  }

  @Test(arguments: [.nan, .infinity, -.infinity, 0, -1, 1e300] as [Double])
  func noFrameRateEndsTheProcess(_ framesPerSecond: Double) throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    let seen = Seen()
    let capture = try seen.capture(
      .screen(.find(display: display.name)), .init(framesPerSecond: framesPerSecond))
    #expect(seen.wait { !$0.frames.isEmpty })
    capture.stop()
  }

  @Test func thePointerIsSeenAndGoes() throws {
    let display = try VirtualDisplay(width: 320, height: 240)
    try display.fill(0, 0, 320, 240, green)
    try display.point(160, 120)
    let seen = Seen()
    let capture = try seen.capture(
      .screen(.find(display: display.name)), .init(repeatInterval: .seconds(1_000)))
    /// Whether something else than the background is around a point.
    func shows(_ frame: RawVideoFrame?, _ x: Int, _ y: Int) -> Bool {
      guard let frame else { return false }
      let image = RGBImage(frame.buffer)
      return (x - 8..<x + 8).contains { column in
        (y - 8..<y + 8).contains { image[column, $0][1] < 200 || image[column, $0][0] > 60 }
      }
    }
    #expect(seen.wait { shows($0.frames.last, 160, 120) })
    try display.point(60, 60)
    #expect(seen.wait { shows($0.frames.last, 60, 60) && !shows($0.frames.last, 160, 120) })
    capture.stop()
    let without = Seen()
    let other = try without.capture(.screen(.find(display: display.name)), still)
    #expect(without.wait { !$0.frames.isEmpty })
    #expect(!shows(without.frames.last, 60, 60))
    other.stop()
  }

  @Test func anAreaEndsWithTheDesktopAndHasAnEvenSize() throws {
    let display = try VirtualDisplay(width: 320, height: 240)
    try display.fill(0, 0, 320, 240, blue)
    try display.fill(301, 201, 19, 39, red)
    let seen = Seen()
    let wanted = try #require(PixelRectangle("101x51+301+201"))
    let capture = try seen.capture(.area(wanted, display: display.name), still)
    #expect(seen.wait(for: red, at: 5, 5))
    #expect(seen.frames.first?.width == 18 && seen.frames.first?.height == 38)
    capture.stop()
    #expect(throws: ScreenError.self) {
      _ = try seen.capture(
        .area(.init(x: 320, y: 0, width: 10, height: 10), display: display.name), still)
    }
    #expect(PixelRectangle("101x51") == nil && PixelRectangle("0x51+1+1") == nil)
    #expect(
      PixelRectangle("99999999999999999999x51+1+1") == nil && PixelRectangle("10x10+-1+0") == nil)
  }

  @Test func aMonitorIsFollowedUntilItIsUnplugged() throws {
    let display = try VirtualDisplay(width: 320, height: 240)
    try display.fill(0, 0, 160, 240, red)
    try display.fill(160, 0, 160, 240, blue)
    try display.setMonitor("left", 0, 0, 160, 240)
    let screen = try ScreenDevice.find("left", display: display.name)
    let seen = Seen()
    let capture = try seen.capture(.screen(screen), still)
    #expect(seen.wait(for: red, at: 80, 100))
    #expect(seen.frames.last?.width == 160)
    try display.setMonitor("left", 200, 0, 120, 200)
    #expect(seen.wait(for: blue, at: 80, 100))
    #expect(seen.events.last == .resized(width: 120, height: 200))
    #expect(capture.statistics.width == 120)
    try display.unplugMonitor("left")
    #expect(seen.wait { $0.events.last == .ended(.gone("\(ScreenSource.screen(screen))")) })
    capture.stop()
    #expect {
      _ = try ScreenDevice.find("left", display: display.name)
    } throws: {
      guard case .noScreen("left", let known)? = $0 as? ScreenError else { return false }
      return known.count == 1
    }
  }

  @Test func aWindowIsCapturedUntilItIsClosed() throws {
    let display = try VirtualDisplay()
    let client = try Client(["show"], display.environment)
    #expect(client.line("open") != nil)
    _ = try display.wait { $0.shows(red, at: 70, 50) }
    let window = try ScreenWindow.find("quarters", display: display.name)
    #expect(window.frame == PixelRectangle(x: 40, y: 30, width: 640, height: 360))
    #expect(
      try ScreenWindow.find("0x" + String(window.id, radix: 16), display: display.name) == window)
    let seen = Seen()
    let capture = try seen.capture(.window(window), still)
    #expect(seen.wait(for: red, at: 30, 20) && seen.wait(for: green, at: 280, 20))
    try display.resizeWindow(701, 500)
    #expect(seen.wait { $0.events.contains(.resized(width: 700, height: 500)) })
    #expect(seen.wait(for: [60, 60, 60], at: 690, 20))
    try display.press("q")
    #expect(client.line("closed") == "closed")
    #expect(seen.wait { $0.events.last == .ended(.gone("\(ScreenSource.window(window))")) })
    capture.stop()
    #expect(throws: ScreenError.gone("a window called quarters")) {
      _ = try ScreenWindow.find("quarters", display: display.name)
    }
  }

  @Test func theProcessOutlivesTheDisplay() throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    let seen = Seen()
    let capture = try seen.capture(.screen(.find(display: display.name)), .init())
    #expect(seen.wait { !$0.frames.isEmpty })
    display.stop()
    #expect(seen.wait { $0.events.last == .ended(.displayLost(name: display.name)) })
    capture.stop()
    let last = try #require(seen.frames.last)
    #expect(last.buffer.plane(0).row(0).count == 64, "what is held stays readable")
    // Not the display's own number: another test may have it by now.
    #expect(throws: ScreenError.noDisplay(name: ":59999")) {
      _ = try ScreenDevice.all(display: ":59999")
    }
  }

  @Test func aCaptureEndsFromInside() throws {
    let display = try VirtualDisplay(width: 64, height: 48)
    let held = Mutex<ScreenCapture?>(nil)
    let count = Mutex(0)
    let capture = try ScreenCapture(
      .screen(.find(display: display.name)),
      settings: .init(repeatInterval: .milliseconds(10)),
      deliver: { _ in
        guard let capture = held.withLock({ $0 }) else { return }
        capture.stop()
        count.withLock { $0 += 1 }
      })
    held.withLock { $0 = capture }
    let end = Date(timeIntervalSinceNow: 30)
    while count.withLock({ $0 }) == 0, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
    capture.stop()
    #expect(count.withLock { $0 } == 1)
    held.withLock { $0 = nil }
  }
}
