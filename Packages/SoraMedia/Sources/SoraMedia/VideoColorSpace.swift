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

  /// What a stream says of itself; nil where it says nothing that is known here, and is taken for `bt601`.
  ///
  /// - Parameters:
  ///   - matrixCoefficients: as H.273 table 4 numbers them, 2 where they aren't told. With full range, BT.601 stands for all that
  ///     aren't BT.709's.
  ///   - isFullRange: whether samples use 0 to 255.
  public init?(matrixCoefficients: Int, isFullRange: Bool) {
    switch matrixCoefficients {
    case 1: self.init(matrix: .bt709, isFullRange: isFullRange)
    case 5, 6: self.init(matrix: .bt601, isFullRange: isFullRange)
    default:
      guard isFullRange else { return nil }
      self.init(matrix: .bt601, isFullRange: true)
    }
  }

  /// The same of VP9, which numbers matrices itself (VP9 bitstream specification §7.2.2): 1 and 3 are BT.601's, 2 is BT.709's.
  public init?(vp9ColorSpace: Int, isFullRange: Bool) {
    let matrixCoefficients =
      switch vp9ColorSpace {
      case 1, 3: 6
      case 2: 1
      default: 2
      }
    self.init(matrixCoefficients: matrixCoefficients, isFullRange: isFullRange)
  }

  /// How a stream says it (H.273 tables 2 to 4). BT.601's primaries are those of 525 lines, which differ little from those of 625.
  public var codePoints: CodePoints {
    switch matrix {
    case .bt601: CodePoints(primaries: 6, transfer: 6, matrixCoefficients: 6)
    case .bt709: CodePoints(primaries: 1, transfer: 1, matrixCoefficients: 1)
    }
  }

  /// Numbers of H.273 that streams describe colours with.
  public struct CodePoints: Sendable, Hashable {
    /// `ColourPrimaries` (table 2).
    public let primaries: Int
    /// `TransferCharacteristics` (table 3).
    public let transfer: Int
    /// `MatrixCoefficients` (table 4).
    public let matrixCoefficients: Int
  }

  /// Limited-range BT.601: what is meant where nobody says, here as in libwebrtc.
  public static let bt601 = VideoColorSpace(matrix: .bt601, isFullRange: false)
  /// Limited-range BT.709.
  public static let bt709 = VideoColorSpace(matrix: .bt709, isFullRange: false)

  /// The weights of red and blue in luma (H.273 table 4); green has the rest.
  public var weights: (red: Double, blue: Double) {
    switch matrix {
    case .bt601: (0.299, 0.114)
    case .bt709: (0.2126, 0.0722)
    }
  }

  /// What samples span from black to white, and from the least colour to the most (H.273 §8.3).
  func steps(bitDepth: Int) -> (luma: Double, chroma: Double) {
    let finer = Double(1 << (bitDepth - 8))
    return isFullRange ? (256 * finer - 1, 256 * finer - 1) : (219 * finer, 224 * finer)
  }

  /// The luma sample of black, of 8 bits; with more bits, as many times more as there are steps.
  public var black: UInt8 { isFullRange ? 0 : 16 }
}
