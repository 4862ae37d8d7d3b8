public import SoraMedia

/// A picture as 8-bit red, green and blue, rows top to bottom without padding: `bytes[(y * width + x) * 3 + channel]`.
public struct RGBImage: Sendable, Equatable {
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]

  /// Converts from limited-range BT.601, what VP8 carries and cameras give at these sizes (ITU-R BT.601-7 §2.5).
  public init(_ picture: PixelBuffer) {
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
          let c = unsafe 298 * (Int(rowY[x]) - 16)
          let d = unsafe Int(rowU[x / 2 * step]) - 128
          let e = unsafe Int(rowV[x / 2 * step + offsetV]) - 128
          unsafe output[position] = Self.clamp((c + 409 * e + 128) >> 8)
          unsafe output[position + 1] = Self.clamp((c - 100 * d - 208 * e + 128) >> 8)
          unsafe output[position + 2] = Self.clamp((c + 516 * d + 128) >> 8)
          position += 3
        }
      }
      count = position
    }
  }

  private static func clamp(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, value)))
  }
}
