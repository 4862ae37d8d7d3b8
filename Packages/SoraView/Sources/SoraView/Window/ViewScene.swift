import Synchronization

/// What a window is to show, between those who set it and the render thread. Safe from any thread.
package final class ViewScene: Sendable {
  struct State: Sendable {
    var tiles: [VideoTile] = []
    var size: (width: Int, height: Int)
    /// Whether something is new since it was drawn.
    var needsDrawing = true
    var isClosed = false
    var textProblem: String?
    var timesDrawn = 0
  }

  let settings: VideoWindowSettings
  private let storage: Mutex<State>
  private let wake: @Sendable () -> Void
  private let tell: @Sendable (VideoWindowEvent) -> Void

  /// - Parameters:
  ///   - settings: how the window opens.
  ///   - wake: has the render thread look.
  ///   - tell: takes events, and doesn't wait.
  package init(
    _ settings: VideoWindowSettings, wake: @escaping @Sendable () -> Void,
    tell: @escaping @Sendable (VideoWindowEvent) -> Void
  ) {
    self.settings = settings
    self.wake = wake
    self.tell = tell
    storage = Mutex(State(size: (settings.width, settings.height)))
  }

  var state: State { storage.withLock { $0 } }

  package var size: (width: Int, height: Int) { state.size }
  package var isClosed: Bool { state.isClosed }
  package var timesDrawn: Int { state.timesDrawn }

  package func add(_ tile: VideoTile) {
    tile.attach { [weak self] in self?.change { _ in } }
    change { state in
      if !state.tiles.contains(where: { $0 === tile }) { state.tiles.append(tile) }
    }
  }

  package func remove(_ tile: VideoTile) {
    change { state in
      guard let index = state.tiles.firstIndex(where: { $0 === tile }) else { return }
      state.tiles.remove(at: index).attach(changed: nil)
    }
  }

  /// Changes it, and has it drawn.
  func change(_ body: (inout State) -> Void) {
    let isNew = storage.withLock { state in
      body(&state)
      defer { state.needsDrawing = true }
      return !state.needsDrawing
    }
    if isNew { wake() }
  }

  /// Takes the order to draw. On the render thread.
  func takeOrder() -> Bool {
    storage.withLock { state in
      defer { state.needsDrawing = false }
      return state.needsDrawing
    }
  }

  /// Notes what the render thread has seen; nothing is drawn for it.
  func note(_ body: (inout State) -> Void) { storage.withLock { body(&$0) } }

  func tell(of event: VideoWindowEvent) { tell(event) }
}
