import Dispatch
import SoraClock
public import SoraMedia
import Synchronization

/// How a screen is captured.
public struct ScreenCaptureSettings: Sendable, Hashable {
  /// Frames per second at most, from 0.1 to 240, or 30 where it is no finite number; fewer come where fewer changes are made.
  public var framesPerSecond: Double
  /// Whether the pointer is in the frames.
  public var showsCursor: Bool
  /// After so long without a change the last frame comes again, so that who comes late sees something.
  public var repeatInterval: Duration

  public init(
    framesPerSecond: Double = 30, showsCursor: Bool = true, repeatInterval: Duration = .seconds(1)
  ) {
    self.framesPerSecond = framesPerSecond
    self.showsCursor = showsCursor
    self.repeatInterval = repeatInterval
  }

  /// `framesPerSecond` within what is possible.
  var rate: Double { framesPerSecond.isFinite ? min(max(framesPerSecond, 0.1), 240) : 30 }
}

/// A screen, a part of one or a window that is being captured, from `init` to `stop`.
///
/// A frame comes when something was drawn or the pointer moved, and otherwise now and then: XDamage tells that on X11, and PipeWire
/// brings no others. Pixels come through shared memory where the display is on this machine, and are converted once, by libyuv. Frames and events come on a thread of the capture's own,
/// one after the other; who is slow there gets fewer. No library is loaded before its first use, and no X error ends the process.
public final class ScreenCapture: Sendable {
  public enum Event: Sendable, Equatable {
    /// The user has chosen what is captured through a portal. The value has the token with which the same is had again, where the
    /// portal gave one. The first event there, and none of X11's.
    case allowed(PortalScreen)
    /// Frames have another size from now on, in pixels. Told of the first one, too, where it isn't known before.
    case resized(width: Int, height: Int)
    /// No frame comes any more: the monitor, the window or the display is gone, or the user has refused or ended it. The last event,
    /// and not told after `stop`.
    case ended(ScreenError)
  }

  public struct Statistics: Sendable, Equatable {
    /// Frames that were delivered.
    public var frames = 0
    /// Those of them that came again because nothing had changed.
    public var framesRepeated = 0
    /// Frames that came with less memory than they told, and weren't delivered.
    public var framesDropped = 0
    /// The size of the newest frame, or of the first one that will come, in pixels; 0 while a portal hasn't told.
    public var width = 0
    public var height = 0
  }

  public let source: ScreenSource
  public let settings: ScreenCaptureSettings
  /// Whether pixels come through memory that is shared with the display, and not through its connection.
  public let sharesMemory: Bool

  private let connection: any ScreenConnection
  private let deliver: @Sendable (RawVideoFrame) -> Void
  private let notify: @Sendable (Event) -> Void
  private let counters: Mutex<Statistics>
  private let isStopped = Mutex(false)
  private let running = DispatchGroup()
  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()

  /// Connects to the display or the portal, and begins. Nobody's choice is waited for: `notify` tells of it.
  ///
  /// - Parameters:
  ///   - source: what to capture.
  ///   - settings: how.
  ///   - deliver: takes each frame, with the time at which it was made or read, on the capture's thread.
  ///   - notify: told of the user's permission, of another size and of the end, on the capture's thread.
  /// - Throws: `ScreenError`, such as `noDisplay`, `gone` or `noPortal`.
  public init(
    _ source: ScreenSource, settings: ScreenCaptureSettings = .init(),
    deliver: @escaping @Sendable (RawVideoFrame) -> Void,
    notify: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws(ScreenError) {
    let reader: any ScreenReading
    if case .portal(let screen) = source {
      reader = try PortalReader(
        screen, framesPerSecond: settings.rate, showsCursor: settings.showsCursor)
    } else {
      reader = try DisplayReader(source, showsCursor: settings.showsCursor)
    }
    self.source = source
    self.settings = settings
    self.deliver = deliver
    self.notify = notify
    connection = reader.connection
    sharesMemory = connection.sharesMemory
    counters = Mutex(Statistics(width: reader.size.width, height: reader.size.height))
    let queue = DispatchQueue(label: "sora.screen", qos: .userInitiated)
    queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(connection))
    let handed = Handed(reader)
    queue.async(group: running) { [self] in run(handed.reader) }
  }

  private struct Handed: @unchecked Sendable {
    // @unchecked: who made the reader keeps nothing of it.
    let reader: any ScreenReading

    init(_ reader: any ScreenReading) { self.reader = reader }
  }

  public var statistics: Statistics { counters.withLock { $0 } }

  /// Ends the capture and waits for its last frame, unless it is called from there. Frames that are held stay readable.
  public func stop() {
    isStopped.withLock { $0 = true }
    connection.wake()
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(connection) else {
      return
    }
    running.wait()
  }

  // MARK: On the thread

  private func run(_ reader: any ScreenReading) {
    defer { reader.end() }
    do throws(ScreenError) {
      if let allowed = try reader.begin(), !isStopped.withLock({ $0 }) { notify(.allowed(allowed)) }
      if !isStopped.withLock({ $0 }) { try follow(reader) }
    } catch {
      if !isStopped.withLock({ $0 }) { notify(.ended(error)) }
    }
  }

  private func follow(_ reader: any ScreenReading) throws(ScreenError) {
    let interval = Duration.seconds(1 / settings.rate)
    var last: PixelBuffer?
    var (ticked, sent) = (SystemClock.now - interval, SystemClock.now)
    var stamped = sent
    while true {
      let now = SystemClock.now
      let next = ticked + interval
      // The pointer is asked for its place each time; without it, the next change or repetition is waited for.
      let isPause = reader.isChanged || reader.followsPointer
      let deadline = isPause ? next : max(next, sent + settings.repeatInterval)
      let wait = max(0, (deadline - now).wholeNanoseconds + 999_999) / 1_000_000
      let isResized = try reader.wait(
        milliseconds: Int(min(wait, 10_000)), isPause: isPause)
      if isStopped.withLock({ $0 }) { return }
      counters.withLock { $0.framesDropped = reader.framesDropped }
      if isResized {
        last = nil
        tellSize(reader.size)
      }
      let time = SystemClock.now
      guard time >= next else { continue }
      // A steady rate, unless it was missed by more than a frame.
      ticked = time - next < interval ? next : time
      try reader.followPointer()
      if last == nil || reader.isChanged, let picture = try reader.picture() {
        last = picture.buffer
        // A maker whose clock is another tells times that can't be.
        stamped = picture.time.flatMap { stamped < $0 && $0 <= time ? $0 : nil } ?? time
        sent = time
        send(picture.buffer, at: stamped, isRepeated: false)
      } else if let last, time - sent >= settings.repeatInterval {
        (sent, stamped) = (time, time)
        send(last, at: time, isRepeated: true)
      }
    }
  }

  private func tellSize(_ size: (width: Int, height: Int)) {
    counters.withLock { ($0.width, $0.height) = size }
    notify(.resized(width: size.width, height: size.height))
  }

  private func send(_ picture: PixelBuffer, at time: Instant, isRepeated: Bool) {
    counters.withLock {
      $0.frames += 1
      $0.framesRepeated += isRepeated ? 1 : 0
    }
    deliver(RawVideoFrame(buffer: picture, timestamp: time, colorSpace: .bt601))
  }
}
