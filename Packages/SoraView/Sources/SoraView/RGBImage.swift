public import SoraMedia

/// A picture as 8-bit red, green and blue, rows top to bottom without padding: `bytes[(y * width + x) * 3 + channel]`.
public struct RGBImage: Sendable, Equatable {
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]

  /// An image of bytes that are there: three for each pixel.
  init(width: Int, height: Int, bytes: [UInt8]) {
    precondition(bytes.count == width * height * 3)
    self.width = width
    self.height = height
    self.bytes = bytes
  }

  /// The red, green and blue of a pixel, which must lie in the image.
  public subscript(x: Int, y: Int) -> [UInt8] {
    precondition(x >= 0 && x < width)
    let start = (y * width + x) * 3
    return Array(bytes[start..<start + 3])
  }

  /// Converts a picture.
  ///
  /// - Parameters:
  ///   - picture: what is converted.
  ///   - colorSpace: how its samples become colours; by default limited-range BT.601 (ITU-R BT.601-7 §2.5).
  public init(_ picture: PixelBuffer, colorSpace: VideoColorSpace = .bt601) {
    let picture = BitDepthConverter(limit: 1).convert(picture, to: 8)
    let factors = Factors(colorSpace)
    width = picture.width
    height = picture.height
    let luma = picture.plane(0)
    let u = picture.plane(1)
    let v = picture.format == .i420 ? picture.plane(2) : picture.plane(1)
    let step = picture.format == .i420 ? 1 : 2
    let offsetV = picture.format == .i420 ? 0 : 1
    let (width, height) = (width, height)
    bytes = unsafe [UInt8](unsafeUninitializedCapacity: width * height * 3) { output, count in
      var position = 0
      for y in 0..<height {
        let rowY = unsafe luma.row(y)
        let rowU = unsafe u.row(y / 2)
        let rowV = unsafe v.row(y / 2)
        for x in 0..<width {
          let grey = unsafe factors.luma * (Int(rowY[x]) - factors.black) + 128
          let u = unsafe Int(rowU[x / 2 * step]) - 128
          let v = unsafe Int(rowV[x / 2 * step + offsetV]) - 128
          unsafe output[position] = Self.clamp((grey + factors.vToRed * v) >> 8)
          unsafe output[position + 1] = Self.clamp(
            (grey - factors.uToGreen * u - factors.vToGreen * v) >> 8)
          unsafe output[position + 2] = Self.clamp((grey + factors.uToBlue * u) >> 8)
          position += 3
        }
      }
      count = position
    }
  }

  /// What samples are multiplied by, in 256ths.
  private struct Factors {
    let black: Int
    let luma: Int
    let vToRed: Int
    let uToGreen: Int
    let vToGreen: Int
    let uToBlue: Int

    init(_ space: VideoColorSpace) {
      let (red, blue) = space.weights
      let green = 1 - red - blue
      let chroma = space.isFullRange ? 1 : 255.0 / 224
      func rounded(_ factor: Double) -> Int { Int((factor * 256).rounded()) }
      black = Int(space.black)
      luma = rounded(space.isFullRange ? 1 : 255.0 / 219)
      vToRed = rounded(2 * (1 - red) * chroma)
      uToGreen = rounded(2 * (1 - blue) * blue / green * chroma)
      vToGreen = rounded(2 * (1 - red) * red / green * chroma)
      uToBlue = rounded(2 * (1 - blue) * chroma)
    }
  }

  private static func clamp(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, value)))
  }
}
