import SoraMedia

/// Full-range samples made limited ones: SDL 2.26 has limited BT.601, full BT.601 and limited BT.709, but no full BT.709.
enum FullRange {
  /// ITU-T H.273 equations 8-1 to 8-9 with 8 bits.
  private static let luma = (0...255).map { (value: Int) -> UInt8 in
    UInt8(clamping: 16 + (value * 219 + 127) / 255)
  }
  private static let chroma = (0...255).map { (value: Int) -> UInt8 in
    UInt8(clamping: 128 + Int((Double(value - 128) * 224 / 255).rounded()))
  }

  /// A copy of a picture with its samples in limited range.
  static func squeezed(_ picture: PixelBuffer, into pool: PixelBufferPool) -> PixelBuffer {
    let copy = pool.take(width: picture.width, height: picture.height, format: picture.format)
    for index in 0..<picture.format.planeCount {
      let (from, to) = (picture.plane(index), copy.plane(index))
      let table = index == 0 ? luma : chroma
      for y in 0..<from.height {
        let (source, target) = unsafe (from.row(y), to.row(y))
        for x in 0..<from.width { unsafe target[x] = table[Int(source[x])] }
      }
    }
    return copy.buffer
  }
}
