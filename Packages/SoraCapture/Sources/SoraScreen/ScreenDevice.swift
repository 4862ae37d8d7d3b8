public import SoraMedia

/// A monitor of an X11 display. A description: nothing is captured.
public struct ScreenDevice: Sendable, Hashable, CustomStringConvertible {
  /// The monitor's name, such as `HDMI-1`; the same when it is plugged in again.
  public let name: String
  /// Where it is on the desktop.
  public let frame: PixelRectangle
  /// Whether it is the primary one, or the first where none is.
  public let isPrimary: Bool
  /// The X11 display, such as `:0`; nil for the one that `DISPLAY` names.
  public let display: String?

  public init(name: String, frame: PixelRectangle, isPrimary: Bool, display: String? = nil) {
    self.name = name
    self.frame = frame
    self.isPrimary = isPrimary
    self.display = display
  }

  public var description: String { "\(name) (\(frame))" }
}

/// A window of an application on an X11 display. A description: nothing is captured.
public struct ScreenWindow: Sendable, Hashable, CustomStringConvertible {
  /// X11's number of it.
  public let id: UInt32
  public let title: String
  /// Where it is on the desktop.
  public let frame: PixelRectangle
  /// The X11 display; nil for the one that `DISPLAY` names.
  public let display: String?

  public var description: String { "\(title) (0x\(String(id, radix: 16)))" }
}
