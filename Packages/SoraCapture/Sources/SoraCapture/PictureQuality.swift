public import SoraMedia

/// How close two pictures are.
public enum PictureQuality {
  /// Peak signal-to-noise ratio over all samples of luma and chroma, in dB; nil for pictures of different sizes.
  /// Equal pictures count as 100 dB. Pictures of 10 bits a sample are compared by 8 of them.
  public static func psnr(_ a: PixelBuffer, _ b: PixelBuffer) -> Double? {
    guard a.width == b.width, a.height == b.height else { return nil }
    let (a, b) = (shallow(a), shallow(b))
    var error: UInt64 = 0
    var samples = 0
    error += squaredError(a.plane(0), b.plane(0))
    samples += a.width * a.height
    if a.format == b.format {
      for index in 1..<a.format.planeCount {
        error += squaredError(a.plane(index), b.plane(index))
      }
    } else {
      let (planar, interleaved) = a.format == .i420 ? (a, b) : (b, a)
      error += squaredError(planar: planar, interleaved: interleaved.plane(1))
    }
    samples += 2 * a.chromaWidth * a.chromaHeight
    guard error > 0 else { return 100 }
    return min(100, 10 * log10(255 * 255 * Double(samples) / Double(error)))
  }

  private static func shallow(_ picture: PixelBuffer) -> PixelBuffer {
    picture.format.bitDepth == 8 ? picture : BitDepthConverter(limit: 1).convert(picture, to: 8)
  }

  private static func squaredError(_ a: Plane, _ b: Plane) -> UInt64 {
    var total: UInt64 = 0
    for y in 0..<a.height {
      let rowA = unsafe a.row(y)
      let rowB = unsafe b.row(y)
      // 32 bits hold a row of 66,000 samples at the largest difference, and let the loop be vectorised.
      var sum: UInt32 = 0
      for x in 0..<a.width {
        let difference = unsafe Int32(rowA[x]) &- Int32(rowB[x])
        sum &+= UInt32(bitPattern: difference &* difference)
      }
      total &+= UInt64(sum)
    }
    return total
  }

  private static func squaredError(planar: PixelBuffer, interleaved: Plane) -> UInt64 {
    var total: UInt64 = 0
    for (offset, index) in [(0, 1), (1, 2)] {
      let plane = planar.plane(index)
      for y in 0..<plane.height {
        let rowA = unsafe plane.row(y)
        let rowB = unsafe interleaved.row(y)
        for x in 0..<plane.width {
          let difference = unsafe Int64(rowA[x]) - Int64(rowB[2 * x + offset])
          total &+= UInt64(difference * difference)
        }
      }
    }
    return total
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif
