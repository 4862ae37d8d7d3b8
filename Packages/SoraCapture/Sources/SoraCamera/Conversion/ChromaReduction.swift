import SoraMedia

/// Brings chroma of 4:2:2 or 4:4:4 to 4:2:0: the mean of samples that lie above each other and, of 4:4:4, beside each other. At odd edges the
/// last count twice.
///
/// libyuv has no function for interleaved chroma; its I422ToI420 and I444ToI420 scale, which shifts chroma of odd sizes.
struct ChromaReduction {
  /// Whether there is a sample for each pixel, and not for two beside each other.
  var isFull: Bool

  /// - Parameter raster: rows of U, or of V; its size is the picture's.
  func reduce(_ raster: borrowing Raster, into plane: MutablePlane) {
    for y in 0..<plane.height {
      let rows = rows(y, of: raster)
      var row = unsafe plane.row(y, of: UInt8.self).mutableSpan
      for x in row.indices {
        let (left, right) = columns(x, of: raster)
        row[x] = mean(raster.bytes, rows, left, right)
      }
    }
  }

  /// - Parameters:
  ///   - raster: rows of pairs of U and V; its size is the picture's.
  ///   - plane: an interleaved one.
  ///   - swaps: whether V comes before U in `raster`.
  func reducePairs(_ raster: borrowing Raster, into plane: MutablePlane, swaps: Bool) {
    let (first, second) = swaps ? (1, 0) : (0, 1)
    for y in 0..<plane.height {
      let rows = rows(y, of: raster)
      var row = unsafe plane.row(y, of: UInt8.self).mutableSpan
      for x in 0..<(row.count / 2) {
        let (left, right) = columns(x, of: raster)
        row[x &* 2] = mean(raster.bytes, rows, left &* 2 &+ first, right &* 2 &+ first)
        row[x &* 2 &+ 1] = mean(raster.bytes, rows, left &* 2 &+ second, right &* 2 &+ second)
      }
    }
  }

  /// Where the two rows of row `y` begin, in bytes.
  @inline(__always)
  private func rows(_ y: Int, of raster: borrowing Raster) -> (Int, Int) {
    (
      y &* 2 &* raster.stride, min(y &* 2 &+ 1, raster.height &- 1) &* raster.stride
    )
  }

  /// The samples of a row that sample `x` is made of, which may be the same.
  @inline(__always)
  private func columns(_ x: Int, of raster: borrowing Raster) -> (Int, Int) {
    isFull ? (x &* 2, min(x &* 2 &+ 1, raster.width &- 1)) : (x, x)
  }

  @inline(__always)
  private func mean(
    _ bytes: Span<UInt8>, _ rows: (Int, Int), _ left: Int, _ right: Int
  ) -> UInt8 {
    let above = UInt16(bytes[rows.0 &+ left]) &+ UInt16(bytes[rows.0 &+ right])
    let below = UInt16(bytes[rows.1 &+ left]) &+ UInt16(bytes[rows.1 &+ right])
    return UInt8(truncatingIfNeeded: (above &+ below &+ 2) &>> 2)
  }
}
