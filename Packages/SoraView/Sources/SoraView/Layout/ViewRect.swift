/// A rectangle of whole pixels, from its top-left corner.
public struct ViewRect: Sendable, Hashable {
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

  /// The greatest rectangle of a shape that fits into this one, in its middle.
  ///
  /// - Parameters:
  ///   - width: the shape's width, in any unit, more than 0.
  ///   - height: its height in the same unit, more than 0.
  func fitting(width: Int, height: Int) -> ViewRect {
    let isWider = width * self.height >= height * self.width
    let size =
      isWider
      ? (width: self.width, height: max(1, (self.width * height + width / 2) / width))
      : (width: max(1, (self.height * width + height / 2) / height), height: self.height)
    return middle(width: min(size.width, self.width), height: min(size.height, self.height))
  }

  /// A rectangle of a size with the same middle.
  func middle(width: Int, height: Int) -> ViewRect {
    ViewRect(
      x: x + (self.width - width) / 2, y: y + (self.height - height) / 2, width: width,
      height: height)
  }
}
