/// How a camera's pictures lie in memory, by the four characters that V4L2 gives the format (`V4L2_PIX_FMT_...`).
public struct CameraPixelFormat: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The four characters, the first in the lowest byte.
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The format of four ASCII characters, such as "YUYV".
  ///
  /// - Returns: nil where it isn't four of them.
  public init?(_ characters: String) {
    guard characters.utf8.count == 4, characters.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    rawValue = characters.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
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

  private init(known characters: StaticString) {
    rawValue = "\(characters)".utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// What the camera has encoded already, as a video codec does; it can't be drawn on, and needn't be encoded again.
  public var isVideoCodec: Bool { self == .h264 || self == .h265 }

  /// Whether pictures of this format can be taken.
  public var isSupported: Bool { isVideoCodec || arrangement != nil }

  /// How a picture's samples lie, by what has to be done to read them.
  enum Arrangement {
    /// Planes as a `PixelBuffer` has them: read from where they are. In one piece of memory, or each in its own.
    case i420, yv12, nv12
    /// Planes that must be rearranged.
    case nv21, i422, gray
    /// Samples side by side, so many bytes for a pixel.
    case packed(bytes: Int)
    case jpeg
  }

  var arrangement: Arrangement? {
    switch "\(self)" {
    case "YU12", "YM12": .i420
    case "YV12", "YM21": .yv12
    case "NV12", "NM12": .nv12
    case "NV21", "NM21": .nv21
    case "422P": .i422
    case "GREY": .gray
    case "YUYV", "YVYU", "UYVY", "VYUY", "RGBP": .packed(bytes: 2)
    case "BGR3", "RGB3": .packed(bytes: 3)
    case "AR24", "XR24", "BGR4", "BA24", "BX24", "RGB4", "AB24", "XB24", "RA24", "RX24":
      .packed(bytes: 4)
    case "MJPG", "JPEG": .jpeg
    default: nil
    }
  }

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
    case .i420, .yv12, .nv12, .nv21, .i422: true
    case .packed: ["YUYV", "YVYU", "UYVY", "VYUY"].contains("\(self)")
    case .gray, .jpeg, nil: false
    }
  }

  /// What a picture costs to make usable, relative to others of its size: lent, converted, decoded.
  var cost: Int {
    if isLent { return 0 }
    return self == .mjpeg || self == .jpeg ? 2 : 1
  }

  public var description: String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }
    // V4L2 marks big-endian formats in the highest bit.
    return String(
      decoding: bytes.map { byte -> UInt8 in
        let character = byte & 0x7F
        return character >= 0x20 && character < 0x7F ? character : 0x3F
      }, as: UTF8.self)
  }
}
