/// A colour of a window: 8-bit sRGB with opacity.
public struct ViewColor: Sendable, Hashable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8
  /// 0 can't be seen, 255 hides what is behind.
  public var opacity: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8, opacity: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.opacity = opacity
  }

  public static let black = ViewColor(red: 0, green: 0, blue: 0)
  public static let white = ViewColor(red: 255, green: 255, blue: 255)

  /// 0xRRGGBBAA
  var packed: UInt32 {
    UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(opacity)
  }
}
