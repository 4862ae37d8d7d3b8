public import Foundation

/// The ratio of a frame's sides.
public enum AspectRatio: String, Codable, Sendable {
  /// 4:3
  case standard
  /// 16:9
  case wide

  private var ratio: (width: CGFloat, height: CGFloat) {
    switch self {
    case .standard: (4, 3)
    case .wide: (16, 9)
    }
  }

  /// The height that goes with a width.
  public func height(forWidth width: CGFloat) -> CGFloat { width / ratio.width * ratio.height }

  /// The size that goes with a width.
  public func size(forWidth width: CGFloat) -> CGSize {
    CGSize(width: width, height: height(forWidth: width))
  }

  /// The size with the same width and this ratio.
  public func scale(size: CGSize) -> CGSize { self.size(forWidth: size.width) }
}
