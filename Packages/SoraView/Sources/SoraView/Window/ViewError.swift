/// Why nothing can be shown, with the way out.
public enum ViewError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A library that is loaded when the first window opens isn't there.
  case libraryMissing(package: String, reason: String)
  /// The machine, or the session, has no display.
  case noDisplay(reason: String)
  /// The window is closed.
  case closed
  /// A size that no window has.
  case badSize(width: Int, height: Int)
  /// A call of SDL's failed.
  case failed(operation: String, reason: String)

  public var description: String {
    switch self {
    case .libraryMissing(let package, let reason):
      "no windows without Debian's \(package) (\(reason)); install it"
    case .noDisplay(let reason):
      "no display (\(reason)); run it in a graphical session, or set DISPLAY or WAYLAND_DISPLAY"
    case .closed: "the window is closed; open another one"
    case .badSize(let width, let height):
      "a window can't be \(width)x\(height); use 1 to \(VideoWindowSettings.longestSide) pixels a side"
    case .failed(let operation, let reason): "\(operation) failed: \(reason)"
    }
  }
}
