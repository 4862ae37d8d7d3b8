/// How a camera's pictures lie in memory, by the four characters that V4L2 gives the format (`V4L2_PIX_FMT_...`).
public struct CameraPixelFormat: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The four characters, the first in the lowest byte.
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The format of four ASCII characters, such as "YUYV"; where numbers are big-endian, with "-BE" behind them, such as "XR15-BE".
  ///
  /// - Returns: nil where it isn't that.
  public init?(_ characters: String) {
    let codes = Array(characters.utf8)
    guard codes.count == 4 || codes.count == 7 && characters.hasSuffix(Self.bigEndianSuffix),
      codes.allSatisfy({ $0 < 0x80 })
    else { return nil }
    rawValue = codes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    if codes.count > 4 { rawValue |= Self.bigEndianBit }
  }

  /// Packed 4:2:2, what most USB cameras have.
  public static let yuyv = Self(known: "YUYV")
  public static let uyvy = Self(known: "UYVY")
  /// Y, then U and V interleaved, 4:2:0.
  public static let nv12 = Self(known: "NV12")
  /// Y, U, V, 4:2:0.
  public static let i420 = Self(known: "YU12")
  /// A JPEG a picture.
  public static let mjpeg = Self(known: "MJPG")
  public static let jpeg = Self(known: "JPEG")
  /// An Annex B access unit a picture.
  public static let h264 = Self(known: "H264")
  public static let h265 = Self(known: "HEVC")

  /// What `v4l2_fourcc_be` of videodev2.h sets.
  private static let bigEndianBit: UInt32 = 1 << 31
  private static let bigEndianSuffix = "-BE"

  private init(known characters: StaticString) {
    rawValue = "\(characters)".utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// What the camera has encoded already, as a video codec does; it can't be drawn on, and needn't be encoded again.
  public var isVideoCodec: Bool { self == .h264 || self == .h265 }

  /// Whether pictures of this format can be taken.
  public var isSupported: Bool { isVideoCodec || arrangement != nil }

  /// How the samples lie; nil for what no picture can be made of.
  var arrangement: PixelArrangement? { PixelArrangement.known["\(self)"] }

  /// Whether pictures are read from where the driver wrote them.
  var isLent: Bool {
    switch arrangement {
    case .i420, .yv12, .nv12: true
    default: false
    }
  }

  /// Whether samples are luma and chroma, and stay as they are.
  var isYCbCr: Bool {
    switch arrangement {
    case .i420, .yv12, .nv12, .nv21, .i422, .i444, .nv16, .nv24, .vuya: true
    case .packed(let pixels): pixels.isYCbCr
    case .fields(let fields): fields.isYCbCr
    case .hsv, .gray, .bayer, .jpeg, nil: false
    }
  }

  /// Whether samples are red, green and blue of each pixel.
  var isRGB: Bool {
    switch arrangement {
    case .packed, .fields: !isYCbCr
    default: false
    }
  }

  /// What a picture costs to make usable, relative to others of its size, and what it lacks then: lent, converted, decoded; fewer than
  /// 8 bits a sample or hue, no colour, a sensor's raw samples.
  var cost: Int {
    switch arrangement {
    case .i420, .yv12, .nv12: 0
    case .nv21, .i422, .i444, .nv16, .nv24, .vuya, nil: 1
    case .packed(let pixels): pixels.isWhole ? 1 : 3
    case .fields(let fields): fields.leastBits == 8 ? 1 : 3
    case .jpeg: 2
    case .hsv: 3
    case .gray: 4
    case .bayer: 5
    }
  }

  public var description: String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }
    let text = String(
      decoding: bytes.map { byte -> UInt8 in
        let character = byte & 0x7F
        return character >= 0x20 && character < 0x7F ? character : 0x3F
      }, as: UTF8.self)
    return rawValue & Self.bigEndianBit == 0 ? text : text + Self.bigEndianSuffix
  }
}
