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
    let factors = prepare(source, target, bitDepth: picture.format.bitDepth)
    let made = pool.take(width: picture.width, height: picture.height, format: picture.format)
    if luminance.count != picture.chromaWidth {
      luminance = Array(repeating: 0, count: picture.chromaWidth)
    }
    // Written out for each, so that the compiler makes vectors of it.
    switch picture.format {
    case .i420: convert(picture, into: made, factors, UInt8.self, step: 1)
    case .nv12: convert(picture, into: made, factors, UInt8.self, step: 2)
    case .i010: convert(picture, into: made, factors, UInt16.self, step: 1)
    }
    return made.buffer
  }

  @inline(__always)
  private func convert<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ picture: PixelBuffer, into made: PixelBufferPool.Writable, _ factors: Factors,
    _ sample: Sample.Type, step: Int
  ) {
    let lastPlane = picture.format.planeCount - 1
    let (u, v) = (picture.plane(1), picture.plane(lastPlane))
    let (newU, newV) = (made.plane(1), made.plane(lastPlane))
    let (luma, newLuma) = (picture.plane(0), made.plane(0))
    for row in 0..<picture.chromaHeight {
      factors.add(u, v, row: row, sample, step: step, to: &luminance)
      factors.convert(u, v, row: row, sample, step: step, into: newU, newV)
      for y in 2 * row..<min(2 * row + 2, picture.height) {
        factors.convert(luma, into: newLuma, row: y, sample, luminance)
      }
    }
  }

  private func prepare(
    _ source: VideoColorSpace, _ target: VideoColorSpace, bitDepth: Int
  ) -> Factors {
    if let factors, factors.source == source, factors.target == target,
      factors.bitDepth == bitDepth
    {
      return factors
    }
    let made = Factors(source, target, bitDepth: bitDepth)
    factors = made
    return made
  }
}

/// What samples are multiplied by, in 2^-14: with 10 bits each, sums of three stay far below 32 bits.
private struct Factors {
  private static let bits: Int32 = 14
  private static let half: Int32 = 1 << 13

  let source: VideoColorSpace
  let target: VideoColorSpace
  let bitDepth: Int
  private let luma: Int32
  private let lumaOfU: Int32
  private let lumaOfV: Int32
  private let uOfU: Int32
  private let uOfV: Int32
  private let vOfU: Int32
  private let vOfV: Int32
  /// Half a step, for rounding, and what moves black from one space to the other.
  private let lumaOffset: Int32
  private let chromaOffset: Int32
  /// The chroma sample of grey.
  private let middle: Int32
  private let maximum: Int32

  init(_ source: VideoColorSpace, _ target: VideoColorSpace, bitDepth: Int) {
    self.source = source
    self.target = target
    self.bitDepth = bitDepth
    middle = 1 << (Int32(bitDepth) - 1)
    maximum = 1 << Int32(bitDepth) - 1
    chromaOffset = Self.half + middle << Self.bits
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
    let steps = source.steps(bitDepth: bitDepth)
    let newSteps = target.steps(bitDepth: bitDepth)
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
    // More bits make finer steps of the same range.
    let finer = Int32(bitDepth) - 8
    lumaOffset =
      Self.half + Int32(target.black) << (finer + Self.bits)
      - luma * (Int32(source.black) << finer)
  }

  /// Writes what a row of chroma adds to luma. Samples of a kind lie `step` bytes apart, and V's begin at the last of these.
  @inline(__always)
  func add<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ u: Plane, _ v: Plane, row: Int, _ sample: Sample.Type, step: Int, to sums: inout [Int32]
  ) {
    let u = unsafe u.row(row, of: sample)
    let v = unsafe v.row(row, of: sample)
    var sums = sums.mutableSpan
    for x in sums.indices {
      let a = unsafe Int32(u[x &* step]) &- middle
      let b = unsafe Int32(v[x &* step &+ step &- 1]) &- middle
      sums[x] = lumaOfU &* a &+ lumaOfV &* b &+ lumaOffset
    }
  }

  /// Converts a row of chroma.
  @inline(__always)
  func convert<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ u: Plane, _ v: Plane, row: Int, _ sample: Sample.Type, step: Int,
    into newU: MutablePlane, _ newV: MutablePlane
  ) {
    let count = u.width / MemoryLayout<Sample>.size / step
    let u = unsafe u.row(row, of: sample)
    let v = unsafe v.row(row, of: sample)
    let newU = unsafe newU.row(row, of: sample)
    let newV = unsafe newV.row(row, of: sample)
    for x in 0..<count {
      let a = unsafe Int32(u[x &* step]) &- middle
      let b = unsafe Int32(v[x &* step &+ step &- 1]) &- middle
      unsafe newU[x &* step] = limited(uOfU &* a &+ uOfV &* b &+ chromaOffset)
      unsafe newV[x &* step &+ step &- 1] = limited(vOfU &* a &+ vOfV &* b &+ chromaOffset)
    }
  }

  /// Converts a row of luma: two samples for each sum.
  @inline(__always)
  func convert<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ luma: Plane, into target: MutablePlane, row: Int, _ sample: Sample.Type, _ sums: [Int32]
  ) {
    let old = unsafe luma.row(row, of: sample)
    let new = unsafe target.row(row, of: sample)
    let pairs = sums.span.extracting(0..<old.count / 2)
    for x in pairs.indices {
      let sum = pairs[x]
      unsafe new[2 &* x] = limited(self.luma &* Int32(old[2 &* x]) &+ sum)
      unsafe new[2 &* x &+ 1] = limited(self.luma &* Int32(old[2 &* x &+ 1]) &+ sum)
    }
    guard old.count & 1 == 1 else { return }
    let last = old.count - 1
    unsafe new[last] = limited(self.luma &* Int32(old[last]) &+ sums[last / 2])
  }

  @inline(__always)
  private func limited<Sample: FixedWidthInteger>(_ sum: Int32) -> Sample {
    Sample(truncatingIfNeeded: max(0, min(maximum, sum &>> Self.bits)))
  }
}
