/// How a window opens.
public struct VideoWindowSettings: Sendable, Hashable {
  /// Pixels that no side of a window exceeds.
  public static let longestSide = 16_384

  public var title: String
  /// In the display's units, which are pixels where its scale is 1.
  public var width: Int
  public var height: Int
  /// Where its upper left corner is to be; nil leaves that to the window manager.
  public var position: Position?
  public var isResizable: Bool
  /// Covers the display that it is on.
  public var isFullscreen: Bool
  public var hasBorder: Bool
  public var background: ViewColor
  /// The shape that cells of the grid are best for: width by height.
  public var tileAspect: Double
  /// Pixels between tiles.
  public var tileSpacing: Int
  /// A TrueType file for names and overlays; nil takes the machine's DejaVu Sans, or one like it.
  public var fontPath: String?

  /// A point of the display.
  public struct Position: Sendable, Hashable {
    public var x: Int
    public var y: Int

    public init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
  }

  public init(
    title: String = "Sora", width: Int = 1_280, height: Int = 720, position: Position? = nil,
    isResizable: Bool = true, isFullscreen: Bool = false, hasBorder: Bool = true,
    background: ViewColor = .black, tileAspect: Double = 16.0 / 9, tileSpacing: Int = 2,
    fontPath: String? = nil
  ) {
    self.title = title
    self.width = width
    self.height = height
    self.position = position
    self.isResizable = isResizable
    self.isFullscreen = isFullscreen
    self.hasBorder = hasBorder
    self.background = background
    self.tileAspect = tileAspect
    self.tileSpacing = tileSpacing
    self.fontPath = fontPath
  }
}

/// Where a window is.
public enum VideoWindowPlace: Sendable, Hashable {
  /// On the display.
  case display
  /// In memory: nothing is seen, and `image()` draws it. Needs no display.
  case memory
}

/// What happens to a window.
public enum VideoWindowEvent: Sendable, Hashable {
  /// Somebody wants it closed; that is the app's to do.
  case closeRequested
  /// The display has gone, and the window with it. Nothing can be shown until the program starts anew; all else goes on.
  case displayLost
  /// The size in pixels has changed.
  case resized(width: Int, height: Int)
  /// A key went down, with the focus here: its name in small letters, such as `q`, `escape`, `f11`, `space`.
  case key(String)
}
