import SoraMedia

/// Pixels of hue, saturation and value, a byte each.
struct HSVPixels: PixelReader, Sendable {
  /// Bytes of a pixel.
  let bytes: Int
  /// The byte of the hue; saturation and value follow.
  private let hue: Int
  /// Sixths of the circle in a step of hue, in 1/65536 of 1/256.
  private var scale: Int

  var isYCbCr: Bool { false }

  /// - Parameters:
  ///   - bytes: of a pixel.
  ///   - hue: the place of the hue in them.
  ///   - hueSteps: that make a circle: 180 or 256 (`V4L2_HSV_ENC_180`, `V4L2_HSV_ENC_256`).
  init(bytes: Int, hue: Int, hueSteps: Int = 180) {
    self.bytes = bytes
    self.hue = hue
    scale = (6 * 256 * 65536) / hueSteps
  }

  func with(hueSteps: Int) -> HSVPixels { HSVPixels(bytes: bytes, hue: hue, hueSteps: hueSteps) }

  @inline(__always)
  func pixel(_ x: Int, _ y: Int, of raster: borrowing Raster) -> Pixel {
    let at = y &* raster.stride &+ x &* bytes &+ hue
    var position = (Int(raster.bytes[at]) &* scale &+ 32768) &>> 16
    // Bytes beyond the circle begin it again.
    if position >= 1536 { position &-= 1536 }
    let saturation = Int32(raster.bytes[at &+ 1])
    let value = Int32(raster.bytes[at &+ 2])
    let part = Int32(truncatingIfNeeded: position & 255)
    /// The value, less so many 65280ths of it.
    func less(_ amount: Int32) -> Int32 { (value &* (65280 &- amount) &+ 32640) / 65280 }
    let least = less(saturation &* 256)
    let falling = less(saturation &* part)
    let rising = less(saturation &* (256 &- part))
    return switch position &>> 8 {
    case 0: Pixel(first: value, second: rising, third: least)
    case 1: Pixel(first: falling, second: value, third: least)
    case 2: Pixel(first: least, second: value, third: rising)
    case 3: Pixel(first: least, second: falling, third: value)
    case 4: Pixel(first: rising, second: least, third: value)
    default: Pixel(first: value, second: least, third: falling)
    }
  }
}
