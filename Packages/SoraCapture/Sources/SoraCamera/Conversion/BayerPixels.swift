import SoraMedia

/// Pixels that have one colour each, as they come from a sensor: of each four two are green, one is red and one is blue.
///
/// What a pixel lacks is the mean of its neighbours that have it. Nothing is done for black level, white balance or gamma: that is the
/// work of a camera, and of its driver.
struct BayerPixels: PixelReader, Sendable {
  /// Where the red pixel of the first four is, 0 or 1.
  private let redX: Int
  private let redY: Int
  let depth: SampleDepth

  var isYCbCr: Bool { false }

  init(redX: Int, redY: Int, depth: SampleDepth) {
    self.redX = redX
    self.redY = redY
    self.depth = depth
  }

  @inline(__always)
  func pixel(_ x: Int, _ y: Int, of raster: borrowing Raster) -> Pixel {
    // Beyond an edge lies what is on its other side: there the colours are the same as if the pattern went on.
    let left = x > 0 ? x &- 1 : min(1, raster.width &- 1)
    let right = x < raster.width &- 1 ? x &+ 1 : max(0, x &- 1)
    let up = (y > 0 ? y &- 1 : min(1, raster.height &- 1)) &* raster.stride
    let down = (y < raster.height &- 1 ? y &+ 1 : max(0, y &- 1)) &* raster.stride
    let row = y &* raster.stride
    let own = depth.sample(raster.bytes, row, x)
    let sides = depth.sample(raster.bytes, row, left) &+ depth.sample(raster.bytes, row, right)
    let ends = depth.sample(raster.bytes, up, x) &+ depth.sample(raster.bytes, down, x)
    guard (x ^ redX) & 1 == (y ^ redY) & 1 else {
      // Green: the others lie beside it and above and below it.
      let (beside, above) = ((sides &+ 1) &>> 1, (ends &+ 1) &>> 1)
      return (y ^ redY) & 1 == 0
        ? Pixel(first: beside, second: own, third: above)
        : Pixel(first: above, second: own, third: beside)
    }
    let corners =
      depth.sample(raster.bytes, up, left) &+ depth.sample(raster.bytes, up, right)
      &+ depth.sample(raster.bytes, down, left) &+ depth.sample(raster.bytes, down, right)
    let green = (sides &+ ends &+ 2) &>> 2
    let other = (corners &+ 2) &>> 2
    return (y ^ redY) & 1 == 0
      ? Pixel(first: own, second: green, third: other)
      : Pixel(first: other, second: green, third: own)
  }
}
