package import SoraMedia

/// Fields of known red, green and blue as samples of a colour space, and back, by ITU-T H.273's equations in floating point.
package enum ColoredPictures {
  /// In rows of four, each field 32 pixels wide and high.
  package static let colors: [[Double]] = [
    [0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [0.8, 0.15, 0.1],
    [0.1, 0.7, 0.2], [0.15, 0.2, 0.85], [0.9, 0.8, 0.1], [0.75, 0.55, 0.45],
  ]
  package static let width = 128
  package static let height = 64
  private static let field = 32

  package static func make(_ space: VideoColorSpace, format: PixelFormat = .i420) -> PixelBuffer {
    guard format.bitDepth == 8 else { return Pictures.deep(make(space)) }
    let samples = colors.map { Self.samples($0, space) }
    return PixelBuffer(width: width, height: height, format: format) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          for x in 0..<plane.width {
            // Where the sample lies in luma's picture, and which of the three it is.
            let isPair = index == 1 && format == .nv12
            let column = index == 0 ? x : isPair ? x / 2 * 2 : x * 2
            let row = index == 0 ? y : y * 2
            let component = isPair ? 1 + x % 2 : index
            plane.row(y)[x] = samples[column / field + row / field * 4][component]
          }
        }
      }
    }
  }

  /// The largest difference of a channel between the picture's fields, in their middle, and what they were made of, in steps of 8 bits.
  package static func error(_ picture: PixelBuffer, _ space: VideoColorSpace) -> Double {
    let picture = Pictures.shallow(picture)
    guard picture.width == width, picture.height == height, picture.format == .i420 else {
      return .infinity
    }
    var worst = 0.0
    for (index, color) in colors.enumerated() {
      let (x, y) = (index % 4 * field + field / 2, index / 4 * field + field / 2)
      let seen = rgb(
        Double(picture.plane(0).row(y)[x]), Double(picture.plane(1).row(y / 2)[x / 2]),
        Double(picture.plane(2).row(y / 2)[x / 2]), space)
      for (a, b) in zip(seen, color) { worst = max(worst, abs(a - b) * 255) }
    }
    return worst
  }

  /// Table 4: KR and KB.
  private static func weights(_ space: VideoColorSpace) -> (red: Double, blue: Double) {
    space.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
  }

  private static func samples(_ rgb: [Double], _ space: VideoColorSpace) -> [UInt8] {
    let (kr, kb) = weights(space)
    let luma = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2]
    let cb = (rgb[2] - luma) / (2 * (1 - kb))
    let cr = (rgb[0] - luma) / (2 * (1 - kr))
    let made =
      space.isFullRange
      ? [255 * luma, 255 * cb + 128, 255 * cr + 128]
      : [219 * luma + 16, 224 * cb + 128, 224 * cr + 128]
    return made.map { UInt8(min(max($0.rounded(), 0), 255)) }
  }

  private static func rgb(_ y: Double, _ u: Double, _ v: Double, _ space: VideoColorSpace)
    -> [Double]
  {
    let (kr, kb) = weights(space)
    let luma = space.isFullRange ? y / 255 : (y - 16) / 219
    let chroma = space.isFullRange ? 255.0 : 224
    let red = luma + 2 * (1 - kr) * (v - 128) / chroma
    let blue = luma + 2 * (1 - kb) * (u - 128) / chroma
    let green = (luma - kr * red - kb * blue) / (1 - kr - kb)
    return [red, green, blue].map { min(max($0, 0), 1) }
  }
}
