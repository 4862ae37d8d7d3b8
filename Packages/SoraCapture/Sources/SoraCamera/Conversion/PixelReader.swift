import SoraMedia

/// The three samples of a pixel, 0 to 255: red, green and blue, or Y, U and V.
struct Pixel {
  var first: Int32
  var second: Int32
  var third: Int32
}

/// Rows of a driver's samples, the first at the first byte.
struct Raster: ~Escapable {
  let bytes: Span<UInt8>
  /// Bytes from row to row.
  let stride: Int
  /// Pixels.
  let width: Int
  /// Pixels.
  let height: Int

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, stride: Int, width: Int, height: Int) {
    self.bytes = bytes
    self.stride = stride
    self.width = width
    self.height = height
  }
}

/// Reads pixels where they lie, in formats for which libyuv has no function.
protocol PixelReader {
  /// Whether a pixel's samples are Y, U and V already.
  var isYCbCr: Bool { get }
  /// The pixel in column `x` of row `y`, both within the raster.
  func pixel(_ x: Int, _ y: Int, of raster: borrowing Raster) -> Pixel
}

extension PixelReader {
  /// Makes an I420 picture in one pass: luma of each pixel, chroma of the mean of each four. At odd edges the last pixels count twice.
  @inline(__always)
  func convert(_ raster: borrowing Raster, into target: PixelBufferPool.Writable) {
    let (luma, u, v) = (target.plane(0), target.plane(1), target.plane(2))
    for row in 0..<u.height {
      let top = row * 2
      let bottom = min(top + 1, raster.height - 1)
      var upper = unsafe luma.row(top, of: UInt8.self).mutableSpan
      var lower = unsafe luma.row(bottom, of: UInt8.self).mutableSpan
      var us = unsafe u.row(row, of: UInt8.self).mutableSpan
      var vs = unsafe v.row(row, of: UInt8.self).mutableSpan
      for column in us.indices {
        let left = column * 2
        let right = min(left + 1, raster.width - 1)
        let a = pixel(left, top, of: raster)
        let b = pixel(right, top, of: raster)
        let c = pixel(left, bottom, of: raster)
        let d = pixel(right, bottom, of: raster)
        upper[left] = self.luma(a)
        upper[right] = self.luma(b)
        if bottom != top {
          lower[left] = self.luma(c)
          lower[right] = self.luma(d)
        }
        let sum = Pixel(
          first: a.first + b.first + c.first + d.first,
          second: a.second + b.second + c.second + d.second,
          third: a.third + b.third + c.third + d.third)
        (us[column], vs[column]) = chroma(ofFour: sum)
      }
    }
  }

  /// Limited BT.601 (H.273 §8.3, with weights in 1/256), as libyuv makes of RGB.
  @inline(__always)
  private func luma(_ pixel: Pixel) -> UInt8 {
    guard !isYCbCr else { return UInt8(truncatingIfNeeded: pixel.first) }
    let weighted = 66 &* pixel.first &+ 129 &* pixel.second &+ 25 &* pixel.third
    return UInt8(truncatingIfNeeded: (weighted &+ 128) &>> 8 &+ 16)
  }

  /// - Parameter sum: the sums of four pixels' samples.
  @inline(__always)
  private func chroma(ofFour sum: Pixel) -> (u: UInt8, v: UInt8) {
    guard !isYCbCr else {
      return (
        UInt8(truncatingIfNeeded: (sum.second &+ 2) &>> 2),
        UInt8(truncatingIfNeeded: (sum.third &+ 2) &>> 2)
      )
    }
    // 128 and a half, in 1/1024.
    let middle: Int32 = 128 * 1024 + 512
    let u = 112 &* sum.third &- 74 &* sum.second &- 38 &* sum.first &+ middle
    let v = 112 &* sum.first &- 94 &* sum.second &- 18 &* sum.third &+ middle
    return (UInt8(truncatingIfNeeded: u &>> 10), UInt8(truncatingIfNeeded: v &>> 10))
  }
}
