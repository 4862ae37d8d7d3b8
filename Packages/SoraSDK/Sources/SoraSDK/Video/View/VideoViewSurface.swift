import Dispatch
import SoraView

/// The window that a view's tile is in. It opens when it is wanted, and the one who wants it needn't wait. Safe from any thread.
final class VideoViewSurface: Sendable {
  typealias Handler = @Sendable (VideoWindow.Event) -> Void

  private struct State: Sendable {
    var window: VideoWindow?
    var error: ViewError?
    /// Whether opening is under way.
    var isOpening = false
    /// Whether somebody wants it open.
    var isWanted = false
  }

  private let settings: VideoWindowSettings
  private let place: VideoWindowPlace
  /// Whether the window is the view's own.
  private let isOwn: Bool
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "sora.videoView")

  init(_ settings: VideoWindowSettings, _ place: VideoWindowPlace) {
    self.settings = settings
    self.place = place
    isOwn = true
    state = Locked(State())
  }

  /// A window of the app's, which has the tile from now on.
  init(_ window: VideoWindow, _ tile: VideoTile) {
    settings = window.settings
    place = window.place
    isOwn = false
    state = Locked(State(window: window))
    window.add(tile)
  }

  var window: VideoWindow? { state.window }
  var error: ViewError? { state.error }

  func open(_ tile: VideoTile, _ handler: @escaping Handler) {
    guard isOwn else { return }
    state.isWanted = true
    queue.async { [self] in
      // Who has closed it since then doesn't want it any more.
      if state.isWanted { _ = try? make(tile, handler) }
    }
  }

  func image(_ tile: VideoTile, _ handler: @escaping Handler) throws(ViewError) -> RGBImage {
    if isOwn { state.isWanted = true }
    let result: Result<VideoWindow, ViewError> = queue.sync {
      do throws(ViewError) { return .success(try make(tile, handler)) } catch {
        return .failure(error)
      }
    }
    return try result.get().image()
  }

  func close(_ tile: VideoTile) {
    guard isOwn else {
      state.window?.remove(tile)
      return
    }
    state.isWanted = false
    queue.async { [self] in
      guard !state.isWanted, let window = state.window else { return }
      state.window = nil
      window.close()
    }
  }

  /// On the queue.
  private func make(_ tile: VideoTile, _ handler: @escaping Handler) throws(ViewError)
    -> VideoWindow
  {
    // One that has closed, as with its display, is followed by another, unless it is the app's.
    if let window = state.window, !isOwn || !window.isClosed { return window }
    do throws(ViewError) {
      let window = try VideoWindow(settings, place: place, handler: handler)
      window.add(tile)
      state.error = nil
      state.window = window
      return window
    } catch {
      if state.error != error { Logger.error(type: .videoView, message: "\(error)") }
      state.error = error
      throw error
    }
  }
}
