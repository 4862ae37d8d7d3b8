public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What is captured.
public enum ScreenSource: Sendable, Hashable, CustomStringConvertible {
  /// A monitor, which is followed when it gets another place or another size.
  case screen(ScreenDevice)
  /// A part of the desktop of a display (nil for the one that `DISPLAY` names), as far as the desktop reaches.
  case area(PixelRectangle, display: String?)
  /// A window, with its pixels where others cover it. While it isn't shown, its last picture is.
  case window(ScreenWindow)
  /// What the user chooses in the desktop's dialog, on Wayland and wherever else there is a portal.
  case portal(PortalScreen)

  /// A whole screen, in the way that fits this session: through the portal where it is one of Wayland's (`WAYLAND_DISPLAY` is set, or
  /// `DISPLAY` isn't) and has one, and otherwise the primary monitor of the X11 display.
  ///
  /// - Throws: what the way that is left has to say: `noPortal`, `noDisplay`, `libraryMissing`.
  public static func preferred() throws(ScreenError) -> ScreenSource {
    let (isWayland, isX11) = (isSet("WAYLAND_DISPLAY"), isSet("DISPLAY"))
    guard isWayland || !isX11 else { return .screen(try .find()) }
    do throws(ScreenError) {
      if try PortalScreen.offered().contains(.monitor) { return .portal(PortalScreen()) }
    } catch {
      if isWayland, !isX11 { throw error }
    }
    return .screen(try .find())
  }

  private static func isSet(_ name: String) -> Bool {
    guard let value = unsafe getenv(name) else { return false }
    return unsafe value.pointee != 0
  }

  /// Whether somebody has to allow it, which takes as long as they think.
  public var asksUser: Bool {
    if case .portal = self { true } else { false }
  }

  var display: String? {
    switch self {
    case .screen(let screen): screen.display
    case .area(_, let display): display
    case .window(let window): window.display
    case .portal: nil
    }
  }

  public var description: String {
    switch self {
    case .screen(let screen): "the screen \(screen)"
    case .area(let area, _): "the area \(area)"
    case .window(let window): "the window \(window)"
    case .portal(let screen): "\(screen)"
    }
  }
}
