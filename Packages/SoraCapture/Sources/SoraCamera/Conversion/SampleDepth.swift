import SoraMedia

/// Samples of 8 to 16 bits, one for a pixel. Those of more than 8 have two bytes, of which the lower bits count.
struct SampleDepth: Sendable {
  let bits: Int
  let isBigEndian: Bool

  init(bits: Int, isBigEndian: Bool = false) {
    self.bits = bits
    self.isBigEndian = isBigEndian
  }

  /// Bytes of a sample.
  var bytes: Int { bits > 8 ? 2 : 1 }

  /// The most that a sample can be.
  private var most: Int32 { 1 &<< Int32(truncatingIfNeeded: bits) &- 1 }

  /// Sample `x` in the row that begins at byte `row`. Bits beyond the depth should be 0; with others it is the most.
  @inline(__always)
  private func number(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> Int32 {
    guard bits > 8 else { return Int32(bytes[row &+ x]) }
    let at = row &+ x &* 2
    let (first, second) = (Int32(bytes[at]), Int32(bytes[at &+ 1]))
    return min(most, isBigEndian ? first &<< 8 | second : second &<< 8 | first)
  }

  /// The upper 8 bits of a sample.
  @inline(__always)
  func sample(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> Int32 {
    number(bytes, row, x) &>> Int32(truncatingIfNeeded: bits &- 8)
  }

  /// Makes an I420 picture without colour of brightness from black at 0 to white at the most, as sensors have it.
  func convertGray(_ raster: borrowing Raster, into target: PixelBufferPool.Writable) {
    // To 16 up to 235 (H.273 §8.3), in 1/65536.
    let scale = (219 * 65536 + most / 2) / most
    let luma = target.plane(0)
    for y in 0..<luma.height {
      var row = unsafe luma.row(y, of: UInt8.self).mutableSpan
      for x in row.indices {
        let number = number(raster.bytes, y &* raster.stride, x)
        row[x] = UInt8(truncatingIfNeeded: (number &* scale &+ 32768) &>> 16 &+ 16)
      }
    }
    for index in 1...2 {
      let plane = target.plane(index)
      for y in 0..<plane.height {
        unsafe plane.row(y).initializeMemory(as: UInt8.self, repeating: 128)
      }
    }
  }
}
