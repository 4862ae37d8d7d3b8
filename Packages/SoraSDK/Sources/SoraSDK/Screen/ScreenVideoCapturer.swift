import SoraMedia
public import SoraScreen
import Synchronization

/// Takes frames from a screen, a part of one or a window, and sends them to a stream. Linux only.
///
/// A screen of a portal's is captured when the user has allowed it: until then it is being started, which `stop` ends. What they chose
/// then takes the place of `source`, so that they needn't choose again at the next start, where the portal can do that. A capturer that is
/// let go ends its capture.
///
/// Everything may be called from any thread. Starting and stopping run later on the queue of `SoraDispatcher.camera`, one after the
/// other; completion handlers and `handlers` run there too. Of the frames that come while that queue is busy the newest is kept.
public final class ScreenVideoCapturer: Sendable {
  /// Gets nil when it worked, or what went wrong: a `ScreenError`, or `SoraError.cameraError` where it runs already or doesn't run.
  public typealias CompletionHandler = @Sendable ((any Error)?) -> Void

  private struct Run: Sendable {
    var relay: FrameRelay
    var capture: ScreenCapture
    /// Who waits for the user's permission.
    var waiting: CompletionHandler?
  }

  private struct State: Sendable {
    var source: ScreenSource
    var stream: (any MediaStream)?
    var run: Run?
  }

  /// Told what this capturer does.
  public let handlers = ScreenVideoCapturerHandlers()
  private let state: Mutex<State>

  /// A capturer of a screen's. Nothing is opened before it is started.
  public init(source: ScreenSource) { state = Mutex(State(source: source)) }

  /// Nobody can stop the capture any more. Not at once: this may be the capture's own thread, which `stop` would wait for.
  deinit {
    let (run, source) = state.withLock { ($0.run, $0.source) }
    guard let run else { return }
    SoraDispatcher.async(on: .camera) {
      run.capture.stop()
      let reason = "\(source) is captured no more: its capturer was let go; keep it"
      run.waiting?(SoraError.cameraError(reason: reason))
    }
  }

  /// What is captured; of a portal's screen with the token of what the user has allowed, once they have.
  public var source: ScreenSource { state.withLock { $0.source } }

  /// The monitors of the X11 display that `DISPLAY` names, the primary one first; none where there is no display.
  public static var screens: [ScreenDevice] { (try? ScreenDevice.all()) ?? [] }
  /// The windows of that display, those at the top last.
  public static var windows: [ScreenWindow] { (try? ScreenWindow.all()) ?? [] }

  /// Where the frames go. It is held until it is replaced.
  public var stream: (any MediaStream)? {
    get { state.withLock { $0.stream } }
    set { state.withLock { $0.stream = newValue } }
  }

  /// Whether it runs.
  public var isRunning: Bool { state.withLock { $0.run != nil } }

  // MARK: Starting and stopping

  /// Begins to capture, after the user's permission where `source` needs it. An error where it runs already or they refuse.
  ///
  /// - Parameters:
  ///   - settings: frames per second, the pointer, and how often a frame comes again where nothing changes.
  ///   - completionHandler: told nil, or why it doesn't run, on the camera's queue.
  public func start(
    settings: ScreenCaptureSettings = .init(), completionHandler: @escaping CompletionHandler
  ) {
    SoraDispatcher.async(on: .camera) { [self] in
      do {
        try begin(settings, waiting: source.asksUser ? completionHandler : nil)
      } catch {
        completionHandler(error)
        return
      }
      if !source.asksUser { started(completionHandler) }
    }
  }

  /// Ends the capture. An error where it doesn't run.
  public func stop(completionHandler: @escaping CompletionHandler) {
    SoraDispatcher.async(on: .camera) { [self] in
      guard let run = halt() else {
        completionHandler(SoraError.cameraError(reason: "\(source) isn't captured; start it first"))
        return
      }
      completionHandler(nil)
      let reason = "\(source) was stopped before the user had allowed it; start it again"
      ended(run, with: SoraError.cameraError(reason: reason))
    }
  }

  /// The same as `start(settings:completionHandler:)`.
  public func start(settings: ScreenCaptureSettings = .init()) async throws {
    try await CameraVideoCapturer.result { start(settings: settings, completionHandler: $0) }
  }

  /// The same as `stop(completionHandler:)`.
  public func stop() async throws {
    try await CameraVideoCapturer.result { stop(completionHandler: $0) }
  }

  // MARK: On the camera's queue

  private func begin(_ settings: ScreenCaptureSettings, waiting: CompletionHandler?) throws {
    guard !isRunning else {
      throw SoraError.cameraError(reason: "\(source) is captured already; stop that first")
    }
    let relay = FrameRelay { [weak self] relay, frame in self?.captured(frame, by: relay) }
    let capture = try ScreenCapture(
      source, settings: settings, deliver: { relay.offer(VideoFrame($0)) },
      notify: { [weak self] event in
        SoraDispatcher.async(on: .camera) { [weak self] in self?.told(event, by: relay) }
      })
    state.withLock { $0.run = Run(relay: relay, capture: capture, waiting: waiting) }
    let what = waiting == nil ? "is captured" : "is asked for"
    Logger.info(type: .cameraVideoCapturer, message: "\(source) \(what)")
  }

  private func started(_ completionHandler: CompletionHandler) {
    completionHandler(nil)
    handlers.onStart?(self)
  }

  /// Tells that a run is over: who still waits for its beginning, or who was told of that.
  private func ended(_ run: Run, with error: any Error) {
    if let waiting = run.waiting { waiting(error) } else { handlers.onStop?(self) }
  }

  /// Returns what has ended; nil where nothing ran.
  private func halt() -> Run? {
    let run = state.withLock { state in
      let run = state.run
      state.run = nil
      return run
    }
    run?.capture.stop()
    run?.relay.clear()
    return run
  }

  private func captured(_ frame: VideoFrame, by relay: FrameRelay) {
    let (isCurrent, stream) = state.withLock { ($0.run?.relay === relay, $0.stream) }
    guard isCurrent else { return }
    let frame = handlers.onCapture?(self, frame) ?? frame
    stream?.send(videoFrame: frame)
  }

  private func told(_ event: ScreenCapture.Event, by relay: FrameRelay) {
    guard state.withLock({ $0.run?.relay }) === relay else { return }
    switch event {
    case .allowed(let screen):
      let waiting = state.withLock { state in
        state.source = .portal(screen)
        return state.run?.waiting.take()
      }
      Logger.info(type: .cameraVideoCapturer, message: "\(source) is captured")
      if let waiting { started(waiting) }
    case .resized(let width, let height):
      Logger.info(type: .cameraVideoCapturer, message: "\(source) is \(width)x\(height) now")
    case .ended(let error):
      Logger.error(type: .cameraVideoCapturer, message: "\(source) has ended: \(error)")
      if let run = halt() { ended(run, with: error) }
    }
  }
}

/// Told what a `ScreenVideoCapturer` does. On the queue of `SoraDispatcher.camera`.
public final class ScreenVideoCapturerHandlers: Sendable {
  private struct Values: Sendable {
    var onCapture: (@Sendable (ScreenVideoCapturer, VideoFrame) -> VideoFrame)?
    var onStart: (@Sendable (ScreenVideoCapturer) -> Void)?
    var onStop: (@Sendable (ScreenVideoCapturer) -> Void)?
  }

  private let values = Locked(Values())

  /// Gets each frame before it is sent, and returns the one to send in its place.
  public var onCapture: (@Sendable (ScreenVideoCapturer, VideoFrame) -> VideoFrame)? {
    get { values.onCapture }
    set { values.onCapture = newValue }
  }
  /// The capture was started, and the completion handler has run.
  public var onStart: (@Sendable (ScreenVideoCapturer) -> Void)? {
    get { values.onStart }
    set { values.onStart = newValue }
  }
  /// The capture was stopped, or has ended by itself, such as when the window was closed.
  public var onStop: (@Sendable (ScreenVideoCapturer) -> Void)? {
    get { values.onStop }
    set { values.onStop = newValue }
  }

  public init() {}
}
