import Dispatch
import Synchronization

/// A window with any number of tiles, each of which shows the pictures of a stream. Safe from any thread.
///
/// All windows of a process are drawn by one thread. SDL2 is loaded when the first one opens.
public final class VideoWindow: Sendable {
  public typealias Settings = VideoWindowSettings
  public typealias Place = VideoWindowPlace
  public typealias Event = VideoWindowEvent

  public let settings: Settings
  public let place: Place
  private let scene: ViewScene
  private let thread: RenderThread

  /// Opens a window.
  ///
  /// - Parameters:
  ///   - settings: how.
  ///   - place: where.
  ///   - handler: told what happens to it, in order, on a serial queue of the window's own.
  /// - Throws: `ViewError` where the machine has no SDL2 or no display.
  public convenience init(
    _ settings: Settings = Settings(), place: Place = .display,
    handler: @escaping @Sendable (VideoWindow.Event) -> Void = { _ in }
  ) throws(ViewError) {
    try self.init(settings, place: place, thread: .shared, handler: handler)
  }

  package init(
    _ settings: Settings, place: Place, thread: RenderThread,
    handler: @escaping @Sendable (Event) -> Void
  ) throws(ViewError) {
    let sides = 1...Settings.longestSide
    guard sides.contains(settings.width), sides.contains(settings.height) else {
      throw .badSize(width: settings.width, height: settings.height)
    }
    self.settings = settings
    self.place = place
    self.thread = thread
    let queue = DispatchQueue(label: "sora.view.events")
    let scene = ViewScene(
      settings, wake: { thread.wake() }, tell: { event in queue.async { handler(event) } })
    self.scene = scene
    try thread.run { loop in loop.open(scene, place) }.get()
  }

  deinit { close() }

  /// Makes a tile, and adds it behind those that there are. The window keeps it until `remove`.
  public func addTile(_ appearance: VideoTile.Appearance = .init()) -> VideoTile {
    let tile = VideoTile(appearance)
    add(tile)
    return tile
  }

  /// Adds a tile behind those that there are. A tile is in one window at a time.
  public func add(_ tile: VideoTile) { scene.add(tile) }

  /// Takes a tile away. What it is given later is not shown.
  public func remove(_ tile: VideoTile) { scene.remove(tile) }

  /// The tiles in the order in which they are shown.
  public var tiles: [VideoTile] { scene.state.tiles }

  /// The size in pixels.
  public var size: (width: Int, height: Int) { scene.size }

  public var isClosed: Bool { scene.isClosed }

  /// Why names and overlays aren't shown, with the way out: nil while they are, and before there was any.
  public var textProblem: String? { scene.state.textProblem }

  /// How often the window was drawn.
  public var timesDrawn: Int { scene.timesDrawn }

  /// What the window shows, drawn now.
  ///
  /// - Throws: `ViewError.closed`, or what SDL says.
  public func image() throws(ViewError) -> RGBImage {
    let scene = scene
    return try thread.run { loop in loop.image(of: scene) }.get()
  }

  /// Closes it, and returns when it is closed. Tiles may be given frames further on; nobody sees them.
  public func close() {
    let scene = scene
    guard !scene.isClosed else { return }
    thread.run { loop in loop.close(scene) }
  }
}
