/// A rectangle of whole pixels, from the top-left corner of a picture, a window or a desktop.
public struct PixelRectangle: Sendable, Hashable, CustomStringConvertible {
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

  /// `WIDTHxHEIGHT+X+Y`, as X11's tools write it.
  public var description: String { "\(width)x\(height)+\(x)+\(y)" }

  /// All of a picture.
  public init(of picture: PixelBuffer) {
    self.init(x: 0, y: 0, width: picture.width, height: picture.height)
  }

  /// The largest part of a picture in the middle that has the proportions `width`:`height`, at an even place.
  ///
  /// - Precondition: `width` and `height` are above 0.
  public init(of picture: PixelBuffer, withAspect width: Int, _ height: Int) {
    precondition(width > 0 && height > 0)
    let (w, h) = (Double(picture.width), Double(picture.height))
    let aspect = Double(width) / Double(height)
    let partWidth = max(1, min(picture.width, Int((h * aspect).rounded())))
    let partHeight = max(1, min(picture.height, Int((w / aspect).rounded())))
    self.init(
      x: (picture.width - partWidth) / 2 & ~1, y: (picture.height - partHeight) / 2 & ~1,
      width: partWidth, height: partHeight)
  }

  /// The greatest rectangle of a shape that fits into this one, in its middle.
  ///
  /// - Parameters:
  ///   - width: the shape's width, in any unit, more than 0.
  ///   - height: its height in the same unit, more than 0.
  public func fitting(width: Int, height: Int) -> PixelRectangle {
    let isWider = width * self.height >= height * self.width
    let size =
      isWider
      ? (width: self.width, height: max(1, (self.width * height + width / 2) / width))
      : (width: max(1, (self.height * width + height / 2) / height), height: self.height)
    return middle(width: min(size.width, self.width), height: min(size.height, self.height))
  }

  /// A rectangle of a size with the same middle.
  public func middle(width: Int, height: Int) -> PixelRectangle {
    PixelRectangle(
      x: x + (self.width - width) / 2, y: y + (self.height - height) / 2, width: width,
      height: height)
  }

  /// What both have in common; of no size where that is nothing.
  public func intersection(_ other: PixelRectangle) -> PixelRectangle {
    let (left, top) = (max(x, other.x), max(y, other.y))
    return PixelRectangle(
      x: left, y: top, width: max(0, min(x + width, other.x + other.width) - left),
      height: max(0, min(y + height, other.y + other.height) - top))
  }
}
