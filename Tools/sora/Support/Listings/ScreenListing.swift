import Foundation
import SoraMedia
package import SoraScreen

/// What the desktop's portal lets its user choose from, as `sora devices` tells of it.
package struct PortalListing: Encodable {
  let type = "portal"
  /// What `--video` takes.
  let names: [String]

  /// nil where it offers nothing.
  package init?(_ offered: Set<PortalScreen.Kind>) {
    guard !offered.isEmpty else { return nil }
    names =
      (offered.contains(.monitor) ? ["screen:portal"] : [])
      + (offered.contains(.window) ? ["window:portal"] : [])
  }

  /// For people: one line.
  package var line: String {
    let column = type.padding(toLength: 10, withPad: " ", startingAt: 0)
    return "\(column)   \(names.joined(separator: ", "))  (chosen in the desktop's dialog)"
  }
}

/// A screen or a window as `sora devices` tells of it.
package struct ScreenListing: Encodable {
  let type: String
  /// What `--video screen:` or `--video window:` takes.
  let name: String
  let title: String?
  let x: Int
  let y: Int
  let width: Int
  let height: Int
  let isPrimary: Bool?

  package init(_ screen: ScreenDevice) {
    self.init(
      type: "screen", name: screen.name, title: nil, frame: screen.frame,
      isPrimary: screen.isPrimary)
  }

  package init(_ window: ScreenWindow) {
    self.init(
      type: "window", name: "0x" + String(window.id, radix: 16), title: window.title,
      frame: window.frame, isPrimary: nil)
  }

  private init(type: String, name: String, title: String?, frame: PixelRectangle, isPrimary: Bool?)
  {
    self.type = type
    self.name = name.printable
    self.title = title?.printable
    x = frame.x
    y = frame.y
    width = frame.width
    height = frame.height
    self.isPrimary = isPrimary
  }

  /// For people: one line.
  package var line: String {
    let column = type.padding(toLength: 10, withPad: " ", startingAt: 0)
    let mark = isPrimary == true ? "*" : " "
    let names = title.map { "\(name)  \($0)" } ?? name
    return "\(column) \(mark) \(names)  (\(width)x\(height) at \(x),\(y))"
  }
}
