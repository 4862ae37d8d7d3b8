public import Foundation
public import SoraMedia
public import SoraView

/// What a `VideoView` does by itself when its stream begins and ends.
public enum VideoViewConnectionMode: Sendable, Hashable {
  /// Starts with the stream and stops with it; the last frame stays.
  case auto
  /// Starts with the stream, and stops and clears with it.
  case autoClear
  /// Neither starts nor stops: that is the app's to do.
  case manual
}

/// What a `VideoView` shows after `clear()`. On iOS a `UIView`.
public enum VideoViewBackground: Sendable {
  case color(ViewColor)
  /// A still picture, fitted like a frame.
  case picture(PixelBuffer)
}

/// Shows a stream's frames in a window. Safe from any thread.
///
/// The window opens when rendering starts, which is when the view becomes the `videoRenderer` of a stream, unless `connectionMode` is
/// `.manual`. SDL2 is loaded with it. Several views can share one window: `init(in:)`.
///
/// Linux: `init(coder:)` and `layoutSubviews()` aren't there; the window's frame follows its window manager.
public final class VideoView: VideoRenderer {
  private struct State: Sendable {
    var connectionMode = VideoViewConnectionMode.autoClear
    var isRendering = false
    var currentVideoFrameSize: CGSize?
    var background: VideoViewBackground?
    var windowHandler: (@Sendable (VideoWindow.Event) -> Void)?
  }

  private let state = Locked(State())
  private let tile = VideoTile()
  private let surface: VideoViewSurface
  private let debugOverlay: VideoViewDebugOverlay

  /// A view in a window of its own, with that place and size on the display.
  public convenience init(frame: CGRect) { self.init(frame: frame, place: .display) }

  /// A view in a window of its own.
  ///
  /// - Parameters:
  ///   - frame: place and size. Sizes below a pixel count as one.
  ///   - place: on the display or in memory, where `image()` shows it.
  public init(frame: CGRect, place: VideoWindowPlace) {
    surface = VideoViewSurface(VideoWindowSettings(frame: frame), place)
    debugOverlay = VideoViewDebugOverlay(tile)
  }

  /// A view that is a tile of a window that the app has opened. It goes with the view.
  public init(in window: VideoWindow) {
    surface = VideoViewSurface(window, tile)
    debugOverlay = VideoViewDebugOverlay(tile)
  }

  deinit {
    debugOverlay.isOn = false
    surface.close(tile)
  }

  // MARK: Looks

  /// Shown by `clear()`, and before the first frame; nil is black.
  public var backgroundView: VideoViewBackground? {
    get { state.background }
    set {
      state.background = newValue
      tile.update { appearance in
        (appearance.background, appearance.stillPicture) = (nil, nil)
        switch newValue {
        case .color(let color): appearance.background = color
        case .picture(let picture): appearance.stillPicture = picture
        case nil: break
        }
      }
    }
  }

  /// How frames of another shape are fitted in; aspect fit at first, as on iOS.
  public var contentMode: ViewScaling {
    get { tile.appearance.scaling }
    set { tile.update { $0.scaling = newValue } }
  }

  /// Whether left and right are exchanged, as people expect it of their own picture. Linux only.
  public var isMirrored: Bool {
    get { tile.appearance.isMirrored }
    set { tile.update { $0.isMirrored = newValue } }
  }

  /// Written at the lower edge. Linux only.
  public var name: String? {
    get { tile.appearance.name }
    set { tile.update { $0.name = newValue } }
  }

  /// Whether a frame surrounds it, as of who speaks. Linux only.
  public var isMarked: Bool {
    get { tile.appearance.isMarked }
    set { tile.update { $0.isMarked = newValue } }
  }

  /// Whether size and frames per second are written over the picture, anew each second.
  public var debugMode: Bool {
    get { debugOverlay.isOn }
    set { debugOverlay.isOn = newValue }
  }

  // MARK: Rendering

  /// What it does by itself when a stream begins and ends.
  public var connectionMode: VideoViewConnectionMode {
    get { state.connectionMode }
    set { state.connectionMode = newValue }
  }

  /// Whether frames are shown.
  public var isRendering: Bool { state.isRendering }

  /// The size that the stream's frames have; nil before the first.
  public var currentVideoFrameSize: CGSize? { state.currentVideoFrameSize }

  /// Shows the background in place of the last frame. Does nothing while it renders.
  public func clear() {
    if !isRendering { tile.clear() }
  }

  /// Shows frames from now on, and opens the window where it isn't open; that goes on after it has returned. On iOS rendering begins a
  /// moment later.
  public func start() {
    state.isRendering = true
    surface.open(tile) { [weak self] in self?.tell($0) }
  }

  /// Shows no further frames; the last one stays.
  public func stop() { state.isRendering = false }

  // MARK: The window. Linux only

  /// The window, once it is open.
  public var window: VideoWindow? { surface.window }

  /// Why the window could not be opened; the log says it, too.
  public var windowError: ViewError? { surface.error }

  /// Told what happens to the view's own window, on a serial queue. A window that somebody closes has stopped by then; `start()` opens
  /// another one.
  public var windowHandler: (@Sendable (VideoWindow.Event) -> Void)? {
    get { state.windowHandler }
    set { state.windowHandler = newValue }
  }

  /// Stops, and closes the view's own window.
  public func close() {
    stop()
    surface.close(tile)
  }

  /// What the window shows now; opens it where it isn't open.
  ///
  /// - Throws: `ViewError` where it can't be opened or read.
  public func image() throws(ViewError) -> RGBImage {
    try surface.image(tile) { [weak self] in self?.tell($0) }
  }

  /// What became of the frames.
  public var statistics: VideoTile.Statistics { tile.statistics }

  private func tell(_ event: VideoWindow.Event) {
    switch event {
    case .closeRequested: close()
    case .displayLost:
      stop()
      Logger.error(type: .videoView, message: "the display has gone, and the window with it")
    case .key, .resized: break
    }
    state.windowHandler?(event)
  }

  // MARK: VideoRenderer

  public func onChange(size: CGSize) { state.currentVideoFrameSize = size }

  public func render(videoFrame: VideoFrame?) {
    guard let videoFrame, isRendering else { return }
    debugOverlay.count(videoFrame)
    tile.show(videoFrame.raw)
  }

  public func onDisconnect(from: MediaChannel?) { end() }
  public func onRemoved(from: any MediaStream) { end() }
  /// Stops (and clears) however it was switched, as on iOS.
  public func onSwitch(video: Bool) { end() }
  public func onSwitch(audio: Bool) {}

  public func onAdded(from: any MediaStream) {
    if connectionMode != .manual { start() }
  }

  private func end() {
    switch connectionMode {
    case .manual: break
    case .auto: stop()
    case .autoClear:
      stop()
      clear()
    }
  }
}

extension VideoWindowSettings {
  fileprivate init(frame: CGRect) {
    func whole(_ value: CGFloat) -> Int { value.isFinite ? Int(min(max(value, -1e6), 1e6)) : 0 }
    let frame = frame.standardized
    self.init(
      width: max(1, whole(frame.width)), height: max(1, whole(frame.height)),
      position: Position(x: whole(frame.minX), y: whole(frame.minY)))
  }
}

/// The names that `UIView.ContentMode` has for them.
extension ViewScaling {
  public static let scaleToFill = ViewScaling.fill
  public static let scaleAspectFit = ViewScaling.aspectFit
  public static let scaleAspectFill = ViewScaling.aspectFill
}
