/// Brings pictures from 8 bits a sample to 10 and back, for codecs and displays that know one of them, into memory that it uses again.
///
/// Two more bits make four steps of each (ITU-T H.273 §8.3; with full range white is 1,020 of 1,023 then); on the way back samples are
/// rounded. In steady state nothing is allocated.
/// Confined to its owner; the pictures go anywhere and may outlive it.
public final class BitDepthConverter {
  private let pool: PixelBufferPool

  /// - Parameter limit: how many pictures are kept for another use; more may be out at a time.
  public init(limit: Int = 4) { pool = PixelBufferPool(limit: limit) }

  /// `picture` with `bitDepth` bits a sample, in three planes; itself where it has as many.
  ///
  /// - Parameters:
  ///   - picture: what is converted; it is only read.
  ///   - bitDepth: 8 or 10.
  public func convert(_ picture: PixelBuffer, to bitDepth: Int) -> PixelBuffer {
    precondition(bitDepth == 8 || bitDepth == 10, "8 or 10 bits a sample")
    guard picture.format.bitDepth != bitDepth else { return picture }
    let made = pool.take(
      width: picture.width, height: picture.height, format: bitDepth == 8 ? .i420 : .i010)
    switch picture.format {
    case .i010:
      for index in 0..<3 { made.plane(index).reduce(picture.plane(index)) }
    case .i420:
      for index in 0..<3 { made.plane(index).widen(picture.plane(index), from: 0, step: 1) }
    case .nv12:
      made.plane(0).widen(picture.plane(0), from: 0, step: 1)
      for index in 1...2 { made.plane(index).widen(picture.plane(1), from: index - 1, step: 2) }
    }
    return made.buffer
  }
}

extension MutablePlane {
  /// Writes 8-bit samples for 10-bit ones.
  fileprivate func reduce(_ source: Plane) {
    for y in 0..<height {
      let old = unsafe source.row(y, of: UInt16.self)
      let new = unsafe row(y)
      for x in 0..<width {
        unsafe new[x] = UInt8(truncatingIfNeeded: min(255, (old[x] &+ 2) &>> 2))
      }
    }
  }

  /// Writes 10-bit samples for every `step`th 8-bit one from the first on.
  @inline(__always)
  fileprivate func widen(_ source: Plane, from first: Int, step: Int) {
    for y in 0..<height {
      let old = unsafe source.row(y)
      let new = unsafe row(y, of: UInt16.self)
      for x in 0..<new.count {
        unsafe new[x] = UInt16(truncatingIfNeeded: old[x &* step &+ first]) &<< 2
      }
    }
  }
}
