package import SoraMedia
import SoraScaling

/// Brings pictures to one size: scaled as a whole, between black bars where the proportions are others. Confined to
/// one thread at a time.
package final class PictureFitter {
  package let width: Int
  package let height: Int
  private let scaler = PictureScaler(limit: 2)

  /// Proportions that differ by less than this part are those of the same picture, rounded to whole pixels.
  private static let tolerance = 0.02

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// `picture` in the fitter's size; itself where it has that already.
  ///
  /// - Throws: `CodecError` for sizes that can't be scaled.
  package func fit(_ picture: PixelBuffer) throws -> PixelBuffer {
    let ratio =
      Double(picture.width) * Double(height) / (Double(picture.height) * Double(width))
    if abs(ratio - 1) < Self.tolerance {
      return try scaler.scale(picture, width: width, height: height)
    }
    // Chroma has a sample for two pixels: the picture stands at an even place.
    let inner = (
      width: max(1, ratio < 1 ? Int((Double(width) * ratio).rounded()) : width),
      height: max(1, ratio > 1 ? Int((Double(height) / ratio).rounded()) : height)
    )
    let scaled = try scaler.scale(
      picture, width: inner.width, height: inner.height, format: .i420)
    let left = (width - inner.width) / 2 & ~1
    let top = (height - inner.height) / 2 & ~1
    return withExtendedLifetime(scaled) {
      PixelBuffer(width: width, height: height) { planes in
        for (index, plane) in planes.enumerated() {
          // Chroma has half the size.
          let shift = index == 0 ? 0 : 1
          Self.draw(
            scaled.plane(index), left: left >> shift, top: top >> shift, into: plane,
            background: index == 0 ? 16 : 128)
        }
      }
    }
  }

  private static func draw(
    _ source: Plane, left: Int, top: Int, into target: MutablePlane, background: UInt8
  ) {
    let count = min(source.width, target.width - left)
    for y in 0..<target.height {
      let row = unsafe target.row(y)
      unsafe row.initializeMemory(as: UInt8.self, repeating: background)
      guard (0..<source.height).contains(y - top) else { continue }
      unsafe UnsafeMutableRawBufferPointer(rebasing: row[left..<left + count])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: source.row(y - top)[..<count]))
    }
  }
}
