import SoraMedia

/// Reads what is captured from its X11 display, as far as it has changed. Confined to one thread.
final class DisplayReader: ScreenReading {
  private let source: ScreenSource
  private let display: X11Display
  /// What is read: of the desktop, or of a window. Of an even size.
  private var area: PixelRectangle
  /// Whether there are pixels to read.
  private var isShown = true
  private let showsCursor: Bool
  private let pool = PixelBufferPool(limit: 6)

  /// Rows of the area that have changed since they were read.
  private var changedRows: Range<Int>
  private var cursor: X11Display.Cursor?
  private var pointer: (x: Int, y: Int) = (0, 0)
  /// Whether the pointer is to be drawn anew.
  private var isPointerChanged = false
  /// Where the area begins on the desktop.
  private var origin: (x: Int, y: Int) = (0, 0)

  init(_ source: ScreenSource, showsCursor: Bool) throws(ScreenError) {
    let display = try X11Display(source.display)
    display.subject = "\(source)"
    self.source = source
    self.display = display
    self.showsCursor = showsCursor
    area = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
    changedRows = 0..<0
    // The changes first: what changes while it is located is told.
    if case .window(let window) = source {
      try display.follow(window.id)
    } else {
      try display.follow(0)
    }
    try locate()
  }

  var connection: any ScreenConnection { display }
  var size: (width: Int, height: Int) { (area.width, area.height) }
  var followsPointer: Bool { showsCursor }
  /// Each is read from the display itself.
  var framesDropped: Int { 0 }

  var isChanged: Bool {
    isShown && (!changedRows.isEmpty || isPointerChanged || !display.tellsDamage)
  }

  /// Nobody is asked.
  func begin() -> PortalScreen? { nil }

  func wait(milliseconds: Int, isPause: Bool) throws(ScreenError) -> Bool {
    let changes = try display.wait(milliseconds: milliseconds, isPause: isPause)
    if changes.isCursorChanged { cursor = nil }
    let changed = changes.damage.intersection(area)
    if changed.width > 0, changed.height > 0 {
      let rows = changed.y - area.y..<changed.y - area.y + changed.height
      changedRows =
        changedRows.isEmpty
        ? rows
        : min(
          rows.lowerBound, changedRows.lowerBound)..<max(rows.upperBound, changedRows.upperBound)
    }
    guard changes.isChanged else { return false }
    let old = area
    try locate()
    return old.width != area.width || old.height != area.height
  }

  /// Asks where the pointer is, which nobody tells.
  func followPointer() throws(ScreenError) {
    guard showsCursor else { return }
    let now = try display.pointer()
    let isLoaded = cursor != nil
    if cursor == nil { cursor = try display.loadCursor() }
    let shape = cursor ?? .init()
    func covers(_ point: (x: Int, y: Int)) -> Bool {
      let frame = PixelRectangle(
        x: point.x - shape.x, y: point.y - shape.y, width: shape.width, height: shape.height)
      let seen = frame.intersection(
        PixelRectangle(x: origin.x, y: origin.y, width: area.width, height: area.height))
      return seen.width > 0 && seen.height > 0
    }
    if !isLoaded || now != pointer, covers(now) || covers(pointer) { isPointerChanged = true }
    pointer = now
  }

  func picture() throws(ScreenError) -> ScreenPicture? {
    let rows = display.tellsDamage ? changedRows : 0..<area.height
    if !rows.isEmpty {
      guard try display.read(area, rows: rows) else { return nil }
      changedRows = 0..<0
    }
    isPointerChanged = false
    let shape = cursor ?? .init()
    return display.withCursor(
      x: pointer.x - shape.x - origin.x, y: pointer.y - shape.y - origin.y
    ) {
      display.convert(area, into: pool).map { ScreenPicture(buffer: $0) }
    }
  }

  /// The connection goes with its last reference.
  func end() {}

  /// Finds the place of what is captured, and makes room for it.
  private func locate() throws(ScreenError) {
    let place: PixelRectangle
    switch source {
    case .screen(let wanted):
      guard let screen = try display.monitors().first(where: { $0.name == wanted.name }) else {
        throw .gone("\(source)")
      }
      place = screen.frame.intersection(try display.desktop()).even
      origin = (place.x, place.y)
    case .area(let wanted, _):
      place = wanted.intersection(try display.desktop()).even
      origin = (place.x, place.y)
    case .window(let wanted):
      let (window, isShown) = try display.window(wanted.id)
      self.isShown = isShown
      place =
        PixelRectangle(x: 0, y: 0, width: window.frame.width, height: window.frame.height).even
      origin = (window.frame.x, window.frame.y)
    case .portal:
      // No display knows what its user will choose.
      throw .gone("\(source)")
    }
    guard !place.isEmpty else { throw .gone("\(source)") }
    if place.width != area.width || place.height != area.height { try display.makeRoom(place) }
    area = place
    changedRows = 0..<area.height
  }
}
