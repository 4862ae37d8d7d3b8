/// Why a screen can't be captured, with the way out.
public enum ScreenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// libxcb isn't installed.
  case libraryMissing
  /// No X server answers.
  case noDisplay(name: String?)
  /// The display has no monitor of this name.
  case noScreen(name: String, known: [String])
  /// The display has no such window, or no such area.
  case gone(String)
  /// The X server ended, or closed the connection.
  case displayLost(name: String?)
  /// Pixels of another kind than 8 bits each of blue, green and red in 32.
  case unknownPixels
  /// The X server refused a request, by X11's number of the error.
  case refused(operation: String, code: Int)
  case noMemory
  /// The session has no portal that shows screens, or what speaks to it isn't installed.
  case noPortal(reason: String)
  /// PipeWire isn't installed or doesn't answer.
  case noPipeWire(reason: String)
  /// The user didn't allow it.
  case declined
  /// The portal doesn't do what it was asked for.
  case portalRefused(operation: String, reason: String)
  /// The user or the desktop has ended what was allowed.
  case endedByDesktop
  /// No frames come from PipeWire any more.
  case streamEnded(reason: String)

  public var description: String {
    switch self {
    case .libraryMissing: "screens can't be captured without libxcb; install Debian's libxcb1"
    case .noDisplay(let name?):
      "no display \(name); is an X server there, and may this user connect (xauth, xhost)?"
    case .noDisplay(nil): "no display; set DISPLAY to that of an X server, such as :0"
    case .noScreen(let name, let known):
      "no screen \(name); there is \(known.isEmpty ? "none" : known.joined(separator: ", "))"
    case .gone(let what): "\(what) isn't there any more"
    case .displayLost(let name): "the display \(name ?? "") ended"
    case .unknownPixels:
      "the display's pixels have another kind than 8 bits for each colour; use one with a depth of 24"
    case .refused(let operation, let code):
      "the display refused \(operation) (X11 error \(code))"
    case .noMemory: "there is no memory for the screen's pixels"
    case .noPortal(let reason):
      "no portal shows this desktop: \(reason); install xdg-desktop-portal with the desktop's part of it (-gnome, -kde, -wlr ...)"
    case .noPipeWire(let reason):
      "no PipeWire: \(reason); install Debian's libpipewire-0.3-0 and pipewire, and start the latter"
    case .declined: "the user didn't allow the screen; ask again when they want to show it"
    case .portalRefused(let operation, let reason):
      "the desktop's portal refused \(operation): \(reason)"
    case .endedByDesktop:
      "the user or the desktop has ended the capture; start it again to ask anew"
    case .streamEnded(let reason): "the screen's stream ended: \(reason)"
    }
  }
}
