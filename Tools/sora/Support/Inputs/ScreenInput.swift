package import SoraMedia
import SoraScreen
import Synchronization

/// Pictures to publish from a screen, a part of the desktop or a window, when they change.
package final class ScreenInput: RawVideoFeed {
  package let framesPerSecond: Double
  private let source: ScreenSource
  /// nil while nobody has chosen.
  private let knownResolution: Resolution?
  private let state = Mutex(VideoFeedCounters())
  private let capture = Mutex<ScreenCapture?>(nil)

  /// Finds what is named; nothing is captured yet.
  ///
  /// - Parameter framesPerSecond: at most; nil for 30.
  package init(_ choice: VideoChoice, framesPerSecond: Double?) throws(UsageError) {
    self.framesPerSecond = framesPerSecond ?? 30
    do throws(ScreenError) {
      let frame: PixelRectangle?
      switch choice {
      case .window(Self.portal):
        source = try Self.portal(.window)
        frame = nil
      case .screen(Self.portal):
        source = try Self.portal(.monitor)
        frame = nil
      case .screen(nil):
        source = try .preferred()
        if case .screen(let screen) = source { frame = screen.frame } else { frame = nil }
      case .window(let words):
        let window = try ScreenWindow.find(words)
        source = .window(window)
        frame = window.frame
      case .screen(let name):
        if let area = name.flatMap({ PixelRectangle($0) }) {
          // A display must be there, and the area in it, before anybody is called.
          _ = try ScreenDevice.find()
          source = .area(area, display: nil)
          frame = area
        } else {
          let screen = try ScreenDevice.find(name)
          source = .screen(screen)
          frame = screen.frame
        }
      case .testPattern, .file, .film, .camera, .none: throw .noScreen(name: "there", known: [])
      }
      knownResolution = frame.map { Resolution(width: $0.width, height: $0.height) }
    } catch {
      throw UsageError("--video screen: \(error)")
    }
  }

  /// What asks for the desktop's dialog, in place of a name.
  private static let portal = "portal"

  private static func portal(_ kind: PortalScreen.Kind) throws(ScreenError) -> ScreenSource {
    guard try PortalScreen.offered().contains(kind) else {
      throw .noPortal(reason: "this desktop's shows no \(kind)s to others")
    }
    return .portal(PortalScreen(kinds: [kind], persistence: .none))
  }

  package var resolution: Resolution {
    if let knownResolution { return knownResolution }
    let statistics = capture.withLock { $0 }?.statistics
    return Resolution(width: statistics?.width ?? 0, height: statistics?.height ?? 0)
  }

  package var counters: VideoFeedCounters { state.withLock { $0 } }

  /// Starts capturing, which goes by what changes.
  package func start(at _: Instant, deliver: @escaping @Sendable (RawVideoFrame) -> Void) {
    do throws(ScreenError) {
      let running = try ScreenCapture(
        source, settings: ScreenCaptureSettings(framesPerSecond: framesPerSecond),
        deliver: { [self] frame in
          state.withLock { $0.frames += 1 }
          deliver(frame)
        },
        notify: { [self] event in
          guard case .ended(let error) = event else { return }
          state.withLock { $0.failure = "\(error)" }
        })
      capture.withLock { $0 = running }
    } catch {
      state.withLock { $0.failure = "\(error)" }
    }
  }

  package func stop() { capture.withLock { $0 }?.stop() }
}
