/// Brings pictures from one colour space to another, for streams and displays that know fewer, into memory that it uses again.
///
/// Red, green and blue aren't made on the way: both spaces are linear in them (H.273 §8.3), so that each new sample is a sum of the old
/// ones. A pixel's chroma is that of its block of four, as viewers here take it. In steady state nothing is allocated. Confined to its
/// owner; the pictures go anywhere and may outlive it.
public final class ColorSpaceConverter {
  private let pool: PixelBufferPool
  private var factors: Factors?
  /// What chroma adds to each pair of luma samples of two rows.
  private var luminance: [Int32] = []

  /// - Parameter limit: how many pictures are kept for another use; more may be out at a time.
  public init(limit: Int = 4) { pool = PixelBufferPool(limit: limit) }

  /// `picture` with the same colours in another space, in its own format; itself where both are the same.
  public func convert(
    _ picture: PixelBuffer, from source: VideoColorSpace, to target: VideoColorSpace
  ) -> PixelBuffer {
    guard source != target else { return picture }
    let factors = prepare(source, target)
    let made = pool.take(width: picture.width, height: picture.height, format: picture.format)
    if luminance.count != picture.chromaWidth {
      luminance = Array(repeating: 0, count: picture.chromaWidth)
    }
    let isPlanar = picture.format == .i420
    let (u, v) = (picture.plane(1), picture.plane(isPlanar ? 2 : 1))
    let (newU, newV) = (made.plane(1), made.plane(isPlanar ? 2 : 1))
    let (luma, newLuma) = (picture.plane(0), made.plane(0))
    for row in 0..<picture.chromaHeight {
      // Written out twice, so that the compiler makes vectors of each.
      if isPlanar {
        factors.add(u, v, row: row, step: 1, to: &luminance)
        factors.convert(u, v, row: row, step: 1, into: newU, newV)
      } else {
        factors.add(u, v, row: row, step: 2, to: &luminance)
        factors.convert(u, v, row: row, step: 2, into: newU, newV)
      }
      for y in 2 * row..<min(2 * row + 2, picture.height) {
        factors.convert(luma, into: newLuma, row: y, luminance)
      }
    }
    return made.buffer
  }

  private func prepare(_ source: VideoColorSpace, _ target: VideoColorSpace) -> Factors {
    if let factors, factors.source == source, factors.target == target { return factors }
    let made = Factors(source, target)
    factors = made
    return made
  }
}

/// What samples are multiplied by, in 2^-14: with 8 bits each, sums of three stay far below 32 bits.
private struct Factors {
  private static let bits: Int32 = 14
  private static let half: Int32 = 1 << 13

  let source: VideoColorSpace
  let target: VideoColorSpace
  private let luma: Int32
  private let lumaOfU: Int32
  private let lumaOfV: Int32
  private let uOfU: Int32
  private let uOfV: Int32
  private let vOfU: Int32
  private let vOfV: Int32
  /// Half a step, for rounding, and what moves black from one space to the other.
  private let lumaOffset: Int32

  init(_ source: VideoColorSpace, _ target: VideoColorSpace) {
    self.source = source
    self.target = target
    let (red, blue) = source.weights
    let (newRed, newBlue) = target.weights
    let (green, newGreen) = (1 - red - blue, 1 - newRed - newBlue)
    // Of the source's Y, Cb and Cr, between 0 and 1 and -1/2 and 1/2: R = Y + 2 (1 - red) Cr, B = Y + 2 (1 - blue) Cb, and G follows
    // from Y = red R + green G + blue B.
    let (redOfV, blueOfU) = (2 * (1 - red), 2 * (1 - blue))
    let (greenOfU, greenOfV) = (-blue * blueOfU / green, -red * redOfV / green)
    // The target's Y' = newRed R + newGreen G + newBlue B, in which Y stays whole.
    let yOfU = newGreen * greenOfU + newBlue * blueOfU
    let yOfV = newRed * redOfV + newGreen * greenOfV
    // Cb' = (B - Y') / (2 (1 - newBlue)), and Cr' likewise.
    let (divisorU, divisorV) = (2 * (1 - newBlue), 2 * (1 - newRed))
    let (steps, newSteps) = (source.steps, target.steps)
    let chroma = newSteps.chroma / steps.chroma
    let lumaOfChroma = newSteps.luma / steps.chroma
    // Rounded by hand: the library's function would be all that this module needs of libm.
    func fixed(_ factor: Double) -> Int32 {
      Int32(factor * Double(1 << Self.bits) + (factor < 0 ? -0.5 : 0.5))
    }
    luma = fixed(newSteps.luma / steps.luma)
    lumaOfU = fixed(yOfU * lumaOfChroma)
    lumaOfV = fixed(yOfV * lumaOfChroma)
    uOfU = fixed((blueOfU - yOfU) / divisorU * chroma)
    uOfV = fixed(-yOfV / divisorU * chroma)
    vOfU = fixed(-yOfU / divisorV * chroma)
    vOfV = fixed((redOfV - yOfV) / divisorV * chroma)
    lumaOffset = Self.half + Int32(target.black) << Self.bits - luma * Int32(source.black)
  }

  /// Writes what a row of chroma adds to luma. Samples of a kind lie `step` bytes apart, and V's begin at the last of these.
  @inline(__always)
  func add(_ u: Plane, _ v: Plane, row: Int, step: Int, to sums: inout [Int32]) {
    let (u, v) = unsafe (u.row(row), v.row(row))
    var sums = sums.mutableSpan
    for x in sums.indices {
      let a = unsafe Int32(u[x &* step]) &- 128
      let b = unsafe Int32(v[x &* step &+ step &- 1]) &- 128
      sums[x] = lumaOfU &* a &+ lumaOfV &* b &+ lumaOffset
    }
  }

  /// Converts a row of chroma.
  @inline(__always)
  func convert(
    _ u: Plane, _ v: Plane, row: Int, step: Int, into newU: MutablePlane, _ newV: MutablePlane
  ) {
    let count = u.width / step
    let (u, v) = unsafe (u.row(row), v.row(row))
    let (newU, newV) = unsafe (newU.row(row), newV.row(row))
    for x in 0..<count {
      let a = unsafe Int32(u[x &* step]) &- 128
      let b = unsafe Int32(v[x &* step &+ step &- 1]) &- 128
      unsafe newU[x &* step] = Self.sample(uOfU &* a &+ uOfV &* b &+ Self.chromaOffset)
      unsafe newV[x &* step &+ step &- 1] = Self.sample(
        vOfU &* a &+ vOfV &* b &+ Self.chromaOffset)
    }
  }

  /// Converts a row of luma: two samples for each sum.
  func convert(_ luma: Plane, into target: MutablePlane, row: Int, _ sums: [Int32]) {
    let (old, new) = unsafe (luma.row(row), target.row(row))
    let pairs = sums.span.extracting(0..<luma.width / 2)
    for x in pairs.indices {
      let sum = pairs[x]
      unsafe new[2 &* x] = Self.sample(self.luma &* Int32(old[2 &* x]) &+ sum)
      unsafe new[2 &* x &+ 1] = Self.sample(self.luma &* Int32(old[2 &* x &+ 1]) &+ sum)
    }
    guard luma.width & 1 == 1 else { return }
    let last = luma.width - 1
    unsafe new[last] = Self.sample(self.luma &* Int32(old[last]) &+ sums[last / 2])
  }

  private static let chromaOffset: Int32 = half + 128 << bits

  @inline(__always)
  private static func sample(_ sum: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, sum &>> bits)))
  }
}
