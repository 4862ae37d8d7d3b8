import SoraMedia

/// A picture of noise over all values of its samples.
func noise(_ width: Int, _ height: Int, _ format: PixelFormat, _ random: RandomSource)
  -> PixelBuffer
{
  PixelBuffer(width: width, height: height, format: format) { planes in
    for plane in planes {
      for y in 0..<plane.height {
        let row = plane.row(y)
        for x in 0..<plane.width { row[x] = UInt8(truncatingIfNeeded: random.next()) }
        guard format.bitDepth == 10 else { continue }
        for sample in row.bindMemory(to: UInt16.self).indices {
          row.bindMemory(to: UInt16.self)[sample] &= 1_023
        }
      }
    }
  }
}

/// Y, U and V of a pixel.
func sample(_ picture: PixelBuffer, _ x: Int, _ y: Int) -> [Int] {
  func value(_ plane: Int, _ x: Int, _ y: Int) -> Int {
    let row = picture.plane(plane).row(y)
    return picture.format.bitDepth == 8
      ? Int(row[x]) : Int(row.bindMemory(to: UInt16.self)[x])
  }
  let luma = value(0, x, y)
  guard picture.format == .nv12 else {
    return [luma, value(1, x / 2, y / 2), value(2, x / 2, y / 2)]
  }
  return [luma, value(1, x / 2 * 2, y / 2), value(1, x / 2 * 2 + 1, y / 2)]
}
