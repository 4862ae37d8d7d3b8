public import SoraMedia
import SoraClock
import Synchronization

/// A part of a window that shows one stream's pictures. Safe from any thread.
///
/// Of frames that come faster than the window is drawn the newest is shown. A frame's memory goes back when it has been copied to
/// the graphics card, which is once.
public final class VideoTile: Sendable {
  /// What a tile looks like, apart from its picture.
  public struct Appearance: Sendable {
    public var scaling: ViewScaling
    /// Whether left and right are exchanged, as people expect it of their own picture.
    public var isMirrored: Bool
    /// Behind the picture, and in its place where there is none; nil shows the window's.
    public var background: ViewColor?
    /// Shown after `clear()`, in the place of `background`, fitted like a frame.
    public var stillPicture: PixelBuffer?
    /// At the lower edge; cut to the tile's width.
    public var name: String?
    /// Lines in the upper left corner.
    public var overlay: [String]
    /// Whether a frame surrounds it: of who speaks.
    public var isMarked: Bool

    public init(
      scaling: ViewScaling = .aspectFit, isMirrored: Bool = false, background: ViewColor? = nil,
      stillPicture: PixelBuffer? = nil, name: String? = nil, overlay: [String] = [],
      isMarked: Bool = false
    ) {
      self.scaling = scaling
      self.isMirrored = isMirrored
      self.background = background
      self.stillPicture = stillPicture
      self.name = name
      self.overlay = overlay
      self.isMarked = isMarked
    }
  }

  /// What became of the frames.
  public struct Statistics: Sendable, Hashable {
    /// Frames that `show` was given.
    public var framesReceived = 0
    /// Those that were drawn.
    public var framesShown = 0
    /// Those whose place a newer one took before the window was drawn.
    public var framesReplaced = 0
    /// Those that a newer one replaced while the window was hidden, or that `clear` took away before they were drawn. The newest waits, and
    /// is drawn when the window is seen again.
    public var framesHidden = 0
    /// Of the shown ones, those that waited for longer than two frames of the display.
    public var framesLate = 0
    /// Those that could not be drawn: see `lastError`.
    public var framesFailed = 0
    /// Why the last of those failed, or the last still picture.
    public var lastError: ViewError?

    public init() {}
  }

  /// What is to be shown.
  enum Content {
    /// What was shown before.
    case unchanged
    case frame(RawVideoFrame, since: Instant)
    case nothing
  }

  private struct State {
    var appearance: Appearance
    var content = Content.nothing
    /// Whether what waits couldn't be seen when it was to be drawn.
    var isPassedOver = false
    var statistics = Statistics()
    /// The window that it was added to last.
    var changed: (@Sendable () -> Void)?
  }
  private let state: Mutex<State>

  /// A tile that no window shows yet: see `VideoWindow.add(_:)`.
  public init(_ appearance: Appearance = .init()) {
    state = Mutex(State(appearance: appearance))
  }

  /// - Parameter changed: told on any thread that there is something new to draw.
  func attach(changed: (@Sendable () -> Void)?) { state.withLock { $0.changed = changed } }

  /// What it looks like; shown soon after it is set.
  public var appearance: Appearance {
    get { state.withLock { $0.appearance } }
    set { update { $0 = newValue } }
  }

  /// Changes what it looks like, without a gap in which another thread's change would be lost.
  public func update(_ change: (inout Appearance) -> Void) {
    let changed = state.withLock { state in
      change(&state.appearance)
      return state.changed
    }
    changed?()
  }

  public var statistics: Statistics { state.withLock { $0.statistics } }

  /// Shows a frame, turned as it says, in its colours. Never waits.
  public func show(_ frame: RawVideoFrame) {
    replace(with: .frame(frame, since: SystemClock.now)) { $0.framesReceived += 1 }
  }

  /// Takes the picture away: the background is seen.
  public func clear() { replace(with: .nothing) { _ in } }

  /// What there was is released by the caller, without the lock: the memory may be a decoder's.
  private func replace(with content: Content, count: (inout Statistics) -> Void) {
    let (old, changed) = state.withLock { state in
      count(&state.statistics)
      if case .frame = state.content {
        if case .frame = content, !state.isPassedOver {
          state.statistics.framesReplaced += 1
        } else {
          state.statistics.framesHidden += 1
        }
      }
      defer { (state.content, state.isPassedOver) = (content, false) }
      return (state.content, state.changed)
    }
    withExtendedLifetime(old) {}
    changed?()
  }

  /// Takes what is new to be drawn, with what it looks like. On the render thread.
  func take() -> (content: Content, appearance: Appearance) {
    state.withLock { state in
      defer { (state.content, state.isPassedOver) = (.unchanged, false) }
      // What waited for the window to be seen isn't late.
      if state.isPassedOver, case .frame(let frame, _) = state.content {
        return (.frame(frame, since: SystemClock.now), state.appearance)
      }
      return (state.content, state.appearance)
    }
  }

  /// Notes that nobody can see what waits. It stays: of a picture that stands still no other may come. On the render thread.
  func skip() { state.withLock { $0.isPassedOver = true } }

  func count(shown isLate: Bool) {
    state.withLock { state in
      state.statistics.framesShown += 1
      if isLate { state.statistics.framesLate += 1 }
    }
  }

  /// What isn't a frame could not be drawn.
  func note(_ error: ViewError) { state.withLock { $0.statistics.lastError = error } }

  func count(failed error: ViewError) {
    state.withLock { state in
      state.statistics.framesFailed += 1
      state.statistics.lastError = error
    }
  }
}
