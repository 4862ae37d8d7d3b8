public import SoraMedia

/// What is captured.
public enum ScreenSource: Sendable, Hashable, CustomStringConvertible {
  /// A monitor, which is followed when it gets another place or another size.
  case screen(ScreenDevice)
  /// A part of the desktop of a display (nil for the one that `DISPLAY` names), as far as the desktop reaches.
  case area(PixelRectangle, display: String?)
  /// A window, with its pixels where others cover it. While it isn't shown, its last picture is.
  case window(ScreenWindow)

  var display: String? {
    switch self {
    case .screen(let screen): screen.display
    case .area(_, let display): display
    case .window(let window): window.display
    }
  }

  public var description: String {
    switch self {
    case .screen(let screen): "the screen \(screen)"
    case .area(let area, _): "the area \(area)"
    case .window(let window): "the window \(window)"
    }
  }
}
