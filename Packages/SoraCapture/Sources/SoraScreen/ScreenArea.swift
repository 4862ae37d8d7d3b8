/// A rectangle of a desktop, in pixels from its upper left corner.
public struct ScreenArea: Sendable, Hashable, CustomStringConvertible {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Reads `WIDTHxHEIGHT+X+Y`, as X11's tools write it; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false)
    let size = (parts.first ?? "").split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 3, size.count == 2, let width = Int(size[0]), let height = Int(size[1]),
      let x = Int(parts[1]), let y = Int(parts[2]), (1...32_767).contains(width),
      (1...32_767).contains(height), (0...32_767).contains(x), (0...32_767).contains(y)
    else { return nil }
    self.init(x: x, y: y, width: width, height: height)
  }

  public var description: String { "\(width)x\(height)+\(x)+\(y)" }

  /// What both have in common; of no size where that is nothing.
  func intersection(_ other: ScreenArea) -> ScreenArea {
    let (left, top) = (max(x, other.x), max(y, other.y))
    return ScreenArea(
      x: left, y: top, width: max(0, min(x + width, other.x + other.width) - left),
      height: max(0, min(y + height, other.y + other.height) - top))
  }

  /// Without the last column and row where there is an odd number of them: encoders take pairs.
  var even: ScreenArea {
    ScreenArea(x: x, y: y, width: width & ~1, height: height & ~1)
  }

  var isEmpty: Bool { width < 2 || height < 2 }
}
