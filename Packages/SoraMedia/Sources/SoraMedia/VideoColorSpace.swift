/// How the samples of a picture become red, green and blue (ITU-T H.273 §8.3).
public struct VideoColorSpace: Sendable, Hashable {
  /// The weights of red, green and blue in luma.
  public enum Matrix: Sendable, Hashable {
    /// ITU-R BT.601: standard definition, cameras, VP8.
    case bt601
    /// ITU-R BT.709: high definition.
    case bt709
  }

  public var matrix: Matrix
  /// Whether samples use 0 to 255; otherwise luma uses 16 to 235 and chroma 16 to 240.
  public var isFullRange: Bool

  public init(matrix: Matrix, isFullRange: Bool) {
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  /// What a stream says of itself.
  ///
  /// - Parameters:
  ///   - matrixCoefficients: as H.273 table 4 numbers them; BT.601 where it is another than BT.709, or not told.
  ///   - isFullRange: whether samples use 0 to 255.
  public init(matrixCoefficients: Int, isFullRange: Bool) {
    self.init(matrix: matrixCoefficients == 1 ? .bt709 : .bt601, isFullRange: isFullRange)
  }

  /// Limited-range BT.601: what is meant where nobody says, here as in libwebrtc.
  public static let bt601 = VideoColorSpace(matrix: .bt601, isFullRange: false)
  /// Limited-range BT.709.
  public static let bt709 = VideoColorSpace(matrix: .bt709, isFullRange: false)
}
