import SoraMedia

/// Draws lines of text on a canvas, and keeps those that were drawn last. Confined to the render thread.
struct TextPainter {
  private struct Key: Hashable {
    var text: String
    var height: Int
  }

  private static let shade = ViewColor(red: 0, green: 0, blue: 0, opacity: 160)
  /// More characters than any window shows in a line.
  private static let longest = 200
  /// And what they are made of: one may have any number of accents.
  private static let mostScalars = 800

  private let canvas: any ViewCanvas
  private var kept: [Key: ViewTexture] = [:]
  private var used: Set<Key> = []

  init(_ canvas: any ViewCanvas) { self.canvas = canvas }

  /// Begins a drawing of the window.
  mutating func begin() { used = [] }

  /// Ends it: drops what it didn't show.
  mutating func end() {
    for (key, texture) in kept where !used.contains(key) {
      canvas.drop(texture)
      kept[key] = nil
    }
  }

  /// A name, at the lower edge of a tile.
  mutating func draw(name: String, in cell: PixelRectangle) {
    let height = Self.lineHeight(in: cell)
    guard let line = texture(name, height) else { return }
    let strip = PixelRectangle(
      x: cell.x, y: cell.y + cell.height - line.height, width: cell.width, height: line.height)
    canvas.fill(strip, Self.shade)
    draw(line, at: (cell.x + height / 2, strip.y), in: cell)
  }

  /// Lines, in the upper left corner of a tile.
  mutating func draw(overlay lines: [String], in cell: PixelRectangle) {
    let height = Self.lineHeight(in: cell)
    var y = cell.y
    for text in lines {
      guard let line = texture(text, height), y + line.height <= cell.y + cell.height else {
        continue
      }
      let width = min(cell.width, line.width + height)
      canvas.fill(PixelRectangle(x: cell.x, y: y, width: width, height: line.height), Self.shade)
      draw(line, at: (cell.x + height / 2, y), in: cell)
      y += line.height
    }
  }

  /// In steps, so that a window that is being resized doesn't draw every line anew.
  private static func lineHeight(in cell: PixelRectangle) -> Int {
    min(max(12, cell.height / 22), 40) & ~1
  }

  private func draw(_ line: ViewTexture, at point: (x: Int, y: Int), in cell: PixelRectangle) {
    let width = min(line.width, cell.x + cell.width - point.x)
    guard width > 0 else { return }
    canvas.draw(
      line,
      FramePlacement(
        source: PixelRectangle(x: 0, y: 0, width: width, height: line.height),
        destination: PixelRectangle(x: point.x, y: point.y, width: width, height: line.height)))
  }

  private mutating func texture(_ text: String, _ height: Int) -> ViewTexture? {
    let text =
      text.utf8.count > Self.mostScalars
      ? String(text.unicodeScalars.prefix(Self.mostScalars)) : text
    let key = Key(text: text, height: height)
    used.insert(key)
    if let known = kept[key] { return known }
    let harmless = text.prefix(Self.longest).unicodeScalars.filter(Self.isHarmless)
    guard !harmless.isEmpty else { return nil }
    var line = String.UnicodeScalarView()
    line.append(contentsOf: harmless)
    let texture = canvas.makeText(String(line), height: height)
    if let texture { kept[key] = texture }
    return texture
  }

  /// Names come from outside: nothing that changes the direction or the place of what follows.
  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    default: true
    }
  }
}
