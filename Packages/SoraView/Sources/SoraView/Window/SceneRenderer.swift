import SoraMedia

/// Draws one window. Confined to the render thread.
final class SceneRenderer {
  let scene: ViewScene
  let isOnDisplay: Bool
  private let canvas: any ViewCanvas
  private var pacer: FramePacer
  private var isVisible = true
  private var tiles: [ObjectIdentifier: TileRenderer] = [:]
  private var texts: TextPainter

  init(_ scene: ViewScene, _ canvas: any ViewCanvas, isOnDisplay: Bool) {
    self.scene = scene
    self.canvas = canvas
    self.isOnDisplay = isOnDisplay
    pacer = FramePacer(framesPerSecond: canvas.refreshRate)
    texts = TextPainter(canvas)
    let size = canvas.size
    scene.note { $0.size = size }
  }

  var canvasNumber: Int { canvas.number }

  func waitsForDisplay(_ waits: Bool) { canvas.setWaitsForDisplay(waits) }

  func close() {
    tiles = [:]
    canvas.close()
    scene.note { $0.isClosed = true }
  }

  /// The display has gone.
  func lose() {
    scene.note { $0.isClosed = true }
    scene.tell(of: .displayLost)
  }

  // MARK: Events

  func take(_ event: ViewDriverEvent.Kind) {
    switch event {
    case .close: scene.tell(of: .closeRequested)
    case .key(let name): scene.tell(of: .key(name))
    case .exposed: scene.note { $0.needsDrawing = true }
    case .hidden: isVisible = false
    case .shown:
      isVisible = true
      scene.note { $0.needsDrawing = true }
    case .resized:
      let size = canvas.size
      let isNew = scene.state.size != size
      scene.note { state in
        state.size = size
        state.needsDrawing = true
      }
      if isNew { scene.tell(of: .resized(width: size.width, height: size.height)) }
    }
  }

  // MARK: Drawing

  /// Draws the window where it is due. Returns when it is where that is later; nil where there is nothing to draw.
  func drawIfDue(_ clock: () -> Instant) -> Instant? {
    guard scene.state.needsDrawing else { return nil }
    guard isVisible else {
      _ = scene.takeOrder()
      for tile in scene.state.tiles { tile.skip() }
      return nil
    }
    let now = clock()
    guard now >= pacer.due else { return pacer.due }
    pacer.draw(at: now)
    _ = scene.takeOrder()
    let waiting = draw()
    canvas.present()
    count(waiting, at: clock())
    return nil
  }

  /// What the window shows, drawn now.
  func image() throws(ViewError) -> RGBImage {
    _ = scene.takeOrder()
    // Nobody waits for a picture in memory, so that no frame of it is late.
    for (tile, _) in draw() { tile.count(shown: false) }
    let image = try canvas.read()
    canvas.present()
    return image
  }

  private func count(_ drawn: [(tile: VideoTile, since: Instant)], at now: Instant) {
    for (tile, since) in drawn {
      tile.count(shown: isOnDisplay && now - since > pacer.displayInterval * 2)
    }
  }

  /// Returns the tiles with a new frame, with the time since when it waited.
  private func draw() -> [(tile: VideoTile, since: Instant)] {
    let state = scene.state
    let settings = scene.settings
    drop(tilesBut: state.tiles)
    let size = canvas.size
    let cells = GridLayout.cells(
      count: state.tiles.count, width: size.width, height: size.height,
      aspect: settings.tileAspect, spacing: settings.tileSpacing)
    // What is new goes to the graphics card before anything is drawn, so that drawing isn't interrupted.
    var drawn: [(tile: VideoTile, since: Instant)] = []
    for tile in state.tiles {
      let renderer = renderer(of: tile)
      if let since = renderer.update(from: tile) { drawn.append((tile, since)) }
    }
    canvas.clear(settings.background)
    texts.begin()
    for (tile, cell) in zip(state.tiles, cells) {
      renderer(of: tile).draw(in: cell, texts: &texts)
    }
    texts.end()
    let problem = canvas.textProblem
    scene.note { state in
      state.timesDrawn += 1
      state.textProblem = problem
    }
    return drawn
  }

  private func renderer(of tile: VideoTile) -> TileRenderer {
    let key = ObjectIdentifier(tile)
    if let known = tiles[key] { return known }
    let new = TileRenderer(canvas)
    tiles[key] = new
    return new
  }

  private func drop(tilesBut kept: [VideoTile]) {
    guard tiles.count > kept.count || !kept.allSatisfy({ tiles[ObjectIdentifier($0)] != nil })
    else { return }
    let keys = Set(kept.map(ObjectIdentifier.init))
    for (key, renderer) in tiles where !keys.contains(key) {
      renderer.close()
      tiles[key] = nil
    }
  }
}
