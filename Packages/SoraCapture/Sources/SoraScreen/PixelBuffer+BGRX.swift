import CYUV
import SoraMedia

extension PixelBuffer {
  /// A picture of pixels with a byte each of blue, green, red and nothing, without gaps between rows; nil where libyuv refuses.
  static func converting(
    _ pixels: UnsafePointer<UInt8>, _ width: Int, _ height: Int, into pool: PixelBufferPool
  ) -> PixelBuffer? {
    let target = pool.take(width: width, height: height)
    let planes = (0..<3).map { target.plane($0) }
    func start(_ index: Int) -> UnsafeMutablePointer<UInt8> {
      unsafe planes[index].base.assumingMemoryBound(to: UInt8.self)
    }
    // libyuv names the bytes of a word from the highest.
    let status = unsafe ARGBToI420(
      pixels, Int32(width * 4), start(0), Int32(planes[0].stride), start(1),
      Int32(planes[1].stride), start(2), Int32(planes[2].stride), Int32(width), Int32(height))
    return status == 0 ? target.buffer : nil
  }
}
