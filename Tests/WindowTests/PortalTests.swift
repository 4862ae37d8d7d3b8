import Foundation
import SoraMedia
import SoraScreen
import SoraSDK
import TestPrograms
import Testing

/// Screens that a user shows through a portal and PipeWire.
@Suite(
  .serialized, .timeLimit(.minutes(3)),
  .enabled(if: StandInPortal.isAvailable, "\(StandInPortal.reason)"))
struct PortalTests {
  private let settings = ScreenCaptureSettings(showsCursor: false)

  @Test(arguments: ["BGRx", "RGBx", "BGRA", "RGBA"])
  func eachOrderOfColorsIsRead(_ format: String) throws {
    let portal = try StandInPortal(format: format, color: [200, 90, 10])
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(seen.wait(for: [200, 90, 10], at: 30, 20), "\(seen.events) \(capture.statistics)")
    #expect(capture.statistics.framesDropped == 0)
    capture.stop()
  }

  @Test func noFrameRateEndsTheProcess() throws {
    let portal = try StandInPortal()
    let seen = Seen()
    let capture = try seen.capture(
      .portal(PortalScreen(bus: portal.session.bus)), .init(framesPerSecond: .nan))
    #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
    capture.stop()
  }

  @Test func anOddSizeLosesItsLastColumnAndRow() throws {
    let portal = try StandInPortal(width: 63, height: 47)
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(seen.wait(for: [0, 0, 255], at: 61, 45), "\(seen.events) \(capture.statistics)")
    #expect(seen.events.last == .resized(width: 62, height: 46))
    capture.stop()
  }

  /// The stand-in's token is what it was asked for.
  @Test func wishesArriveAndTheTokenIsKept() throws {
    let portal = try StandInPortal()
    var screen = PortalScreen(
      kinds: [.monitor, .window], persistence: .untilRevoked, bus: portal.session.bus)
    for token in [nil, "cursor_mode=1 multiple=0 persist_mode=2 types=3"] as [String?] {
      let seen = Seen()
      let capture = try seen.capture(.portal(screen), settings)
      #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
      capture.stop()
      guard case .allowed(let allowed)? = seen.events.first else {
        Issue.record("\(seen.events)")
        return
      }
      let given = token.map { " restore_token=\($0)" } ?? ""
      #expect(
        allowed.restoreToken == "cursor_mode=1 multiple=0 persist_mode=2\(given) types=3")
      #expect(allowed.kinds == screen.kinds && allowed.bus == screen.bus)
      screen = allowed
    }
  }

  @Test func theFirstVersionIsAskedForNothingNewer() throws {
    let portal = try StandInPortal("first")
    let seen = Seen()
    let screen = PortalScreen(
      persistence: .whileRunning, restoreToken: "old", bus: portal.session.bus)
    let capture = try seen.capture(.portal(screen), settings)
    #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
    capture.stop()
    var told = screen
    told.restoreToken = "multiple=0 types=1"
    #expect(seen.events.first == .allowed(told))
  }

  @Test func theUserEndsIt() throws {
    let portal = try StandInPortal()
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
    try portal.endSessions()
    #expect(seen.wait { $0.events.last == .ended(.endedByDesktop) }, "\(seen.events)")
    capture.stop()
  }

  /// And no camera comes in its place.
  @Test func theStreamEnds() throws {
    let portal = try StandInPortal()
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
    portal.session.end("screen")
    #expect(
      seen.wait {
        guard case .ended(.streamEnded)? = $0.events.last else { return false }
        return true
      }, "\(seen.events)")
    capture.stop()
  }

  @Test(arguments: [
    ("ends", "ended the request"), ("errs", "no sources today"), ("nonsense", "ended the request"),
  ])
  func itsRefusalIsTold(_ kind: String, _ words: String) throws {
    let portal = try StandInPortal(kind)
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(
      seen.wait {
        guard case .ended(.portalRefused(_, let reason))? = $0.events.last else { return false }
        return reason.contains(words)
      }, "\(seen.events)")
    capture.stop()
    #expect(seen.events.count == 1 && seen.frames.isEmpty)
  }

  @Test func aRefusalIsTold() throws {
    let portal = try StandInPortal("asks")
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    try portal.answer(allowing: false)
    #expect(seen.wait { $0.events == [.ended(.declined)] }, "\(seen.events)")
    capture.stop()
    #expect(seen.frames.isEmpty)
  }

  @Test func aCaptureEndsWhileTheUserThinks() throws {
    let portal = try StandInPortal("asks")
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    capture.stop()
    #expect(seen.events.isEmpty && seen.frames.isEmpty)
  }

  @Test func theLastFrameComesAgain() throws {
    let portal = try StandInPortal()
    let seen = Seen()
    let capture = try seen.capture(
      .portal(PortalScreen(bus: portal.session.bus)),
      .init(framesPerSecond: 100, repeatInterval: .milliseconds(10)))
    // Twenty come per second.
    #expect(seen.wait { _ in capture.statistics.framesRepeated >= 5 })
    capture.stop()
    let times = seen.frames.map(\.timestamp)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(capture.statistics.frames == seen.frames.count && capture.sharesMemory)
  }

  @Test(arguments: ["pipewire", "portal", "dbus-daemon"])
  func theProcessOutlivesTheDesktop(_ program: String) throws {
    let portal = try StandInPortal()
    let seen = Seen()
    let capture = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    #expect(seen.wait { !$0.frames.isEmpty }, "\(seen.events)")
    portal.session.end(program)
    #expect(
      seen.wait {
        switch ($0.events.last, program) {
        case (.ended(.streamEnded), "pipewire"): true
        case (.ended(.endedByDesktop), "portal"), (.ended(.endedByDesktop), "dbus-daemon"): true
        default: false
        }
      }, "\(seen.events)")
    capture.stop()
    let last = try #require(seen.frames.last)
    #expect(last.buffer.plane(0).row(0).count == 64, "what is held stays readable")
  }

  @Test func withoutASessionManagerThereIsAnError() throws {
    let portal = try StandInPortal(isManaged: false)
    let seen = Seen()
    let capture = try seen.capture(
      .portal(PortalScreen(bus: portal.session.bus)),
      .init(repeatInterval: .milliseconds(100)))
    #expect(
      seen.wait {
        guard case .ended(.streamEnded)? = $0.events.last else { return false }
        return true
      }, "\(seen.events)")
    capture.stop()
    #expect(seen.frames.isEmpty)
  }

  @Test func aMissingPortalIsAnErrorAtOnce() throws {
    let portal = try StandInPortal(nil)
    let seen = Seen()
    #expect {
      _ = try seen.capture(.portal(PortalScreen(bus: portal.session.bus)), settings)
    } throws: {
      guard case .noPortal(let reason)? = $0 as? ScreenError else { return false }
      return reason.contains("org.freedesktop.portal.Desktop")
    }
  }

  @Test func aCapturerWaitsForTheUser() async throws {
    let portal = try StandInPortal("asks")
    let capturer = ScreenVideoCapturer(
      source: .portal(PortalScreen(bus: portal.session.bus)))
    let (told, continuation) = AsyncStream.makeStream(of: String.self)
    capturer.handlers.onStart = { _ in continuation.yield("start") }
    capturer.handlers.onStop = { _ in continuation.yield("stop") }
    capturer.handlers.onCapture = { _, frame in
      continuation.yield("\(frame.width)x\(frame.height)")
      return frame
    }
    let refused = Task { try await capturer.start() }
    try portal.answer(allowing: false)
    await #expect(throws: ScreenError.declined) { try await refused.value }
    #expect(!capturer.isRunning)
    let allowed = Task { try await capturer.start() }
    try portal.answer(allowing: true)
    try await allowed.value
    guard case .portal(let screen) = capturer.source else {
      Issue.record("\(capturer.source)")
      return
    }
    #expect(screen.restoreToken != nil)
    var events = told.makeAsyncIterator()
    #expect(await events.next() == "start")
    #expect(await events.next() == "64x48")
    try portal.endSessions()
    while let event = await events.next(), event != "stop" {}
    #expect(!capturer.isRunning)
  }

  @Test func aStartIsTakenBack() async throws {
    let portal = try StandInPortal("asks")
    let capturer = ScreenVideoCapturer(
      source: .portal(PortalScreen(bus: portal.session.bus)))
    let started = Task { try await capturer.start() }
    while !capturer.isRunning { await Task.yield() }
    try await capturer.stop()
    await #expect(throws: SoraError.self) { try await started.value }
  }

  /// Who waits for the user's answer is told when nobody else does any more.
  @Test func aCapturerIsLetGoWhileTheUserThinks() async throws {
    let portal = try StandInPortal("asks")
    let (told, continuation) = AsyncStream.makeStream(of: (any Error)?.self)
    var capturer: ScreenVideoCapturer? = ScreenVideoCapturer(
      source: .portal(PortalScreen(bus: portal.session.bus)))
    capturer?.start { continuation.yield($0) }
    while capturer?.isRunning == false { await Task.yield() }
    capturer = nil
    let error = try #require(await told.first { _ in true })
    #expect(error is SoraError)
  }

  @Test func theToolListsIt() throws {
    let portal = try StandInPortal()
    let devices = try Client(program: "sora", ["devices", "--json"], portal.session.environment)
    var lines: [String] = []
    while let line = devices.line("{") { lines.append(line) }
    #expect(
      lines.contains { $0.contains(#""screen:portal""#) && $0.contains(#""window:portal""#) },
      "\(lines)")
    #expect(devices.status == 0)
  }
}

/// What needs no desktop.
@Suite struct MissingPortalTests {
  @Test func withoutABusThereIsNoPortal() {
    #expect {
      _ = try PortalScreen.offered(bus: "unix:path=/nonexistent/bus")
    } throws: {
      guard case .noPortal(let reason)? = $0 as? ScreenError else { return false }
      return reason.contains("session bus")
    }
    #expect(throws: ScreenError.self) { _ = try PortalScreen.offered(bus: "nonsense") }
    #expect(throws: ScreenError.self) {
      _ = try ScreenCapture(.portal(PortalScreen(bus: "unix:path=/nonexistent/bus"))) { _ in }
    }
  }
}
