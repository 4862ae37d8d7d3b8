package import SoraMedia

/// What shows windows: SDL2, or what a test has in its place. Confined to the render thread.
package protocol ViewDriver: AnyObject {
  func openWindow(_ settings: VideoWindowSettings) throws(ViewError) -> any ViewCanvas
  func openMemory(_ settings: VideoWindowSettings) throws(ViewError) -> any ViewCanvas
  /// The next thing that happened to a window; nil when there is none.
  func nextEvent() -> ViewDriverEvent?
  /// Whether the display has gone, with the windows on it: none of them may be used any more, nor closed.
  var isDisplayLost: Bool { get }
}

/// What happened to the window of a canvas.
package struct ViewDriverEvent: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case close, resized, exposed, hidden, shown
    case key(String)
  }

  package var canvas: Int
  package var kind: Kind

  package init(canvas: Int, kind: Kind) {
    self.canvas = canvas
    self.kind = kind
  }
}

/// A picture, or a line of text, that a canvas holds; how SDL says: a texture.
package struct ViewTexture: Sendable, Hashable {
  package var number: Int
  package var width: Int
  package var height: Int

  package init(number: Int, width: Int, height: Int) {
    self.number = number
    self.width = width
    self.height = height
  }
}

/// What is drawn on: a window, or a picture in memory. Confined to the render thread.
package protocol ViewCanvas: AnyObject {
  /// What events name it by.
  var number: Int { get }
  var size: (width: Int, height: Int) { get }
  /// Of the display, in frames per second.
  var refreshRate: Double { get }
  /// Whether `present` should wait for the display; where that is possible.
  func setWaitsForDisplay(_ waits: Bool)

  func makeTexture(
    width: Int, height: Int, format: PixelFormat, colorSpace: VideoColorSpace
  ) throws(ViewError) -> ViewTexture
  func drop(_ texture: ViewTexture)
  /// Copies a picture of the texture's size, format and colours into it.
  func upload(_ picture: PixelBuffer, into texture: ViewTexture) throws(ViewError)
  /// A line of text, `height` pixels high; nil where no text can be drawn.
  func makeText(_ text: String, height: Int) -> ViewTexture?
  /// Why no text can be drawn; nil where it can, or nobody has tried.
  var textProblem: String? { get }

  func clear(_ color: ViewColor)
  func fill(_ rect: PixelRectangle, _ color: ViewColor)
  func draw(_ texture: ViewTexture, _ placement: FramePlacement)
  func present()
  /// What was drawn since the last `present`.
  func read() throws(ViewError) -> RGBImage
  func close()
}
