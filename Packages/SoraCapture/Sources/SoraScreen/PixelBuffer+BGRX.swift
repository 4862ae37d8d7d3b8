import CYUV
import SoraMedia

extension PixelBuffer {
  /// A picture of pixels with four bytes each: blue, green, red and one that says nothing; nil where libyuv refuses.
  ///
  /// - Parameters:
  ///   - stride: bytes from a row to the next; at least four for each of its pixels.
  ///   - isRedFirst: red and blue have each other's place.
  static func converting(
    _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int, isRedFirst: Bool = false,
    into pool: PixelBufferPool
  ) -> PixelBuffer? {
    let target = pool.take(width: width, height: height)
    let planes = (0..<3).map { target.plane($0) }
    let start = { (index: Int) in
      unsafe planes[index].base.assumingMemoryBound(to: UInt8.self)
    }
    // libyuv names the bytes of a word from the highest.
    let convert = unsafe isRedFirst ? ABGRToI420 : ARGBToI420
    let status = unsafe convert(
      pixels, Int32(stride), start(0), Int32(planes[0].stride), start(1),
      Int32(planes[1].stride), start(2), Int32(planes[2].stride), Int32(width), Int32(height))
    return status == 0 ? target.buffer : nil
  }
}
