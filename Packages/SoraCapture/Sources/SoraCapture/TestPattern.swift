public import SoraMedia

/// A moving test picture that is a pure function of its frame index, so that a receiver can draw the same picture again
/// and measure what the way did to it.
///
/// Diagonal waves of luma drift under slow waves of chroma, with a bright square that circles the middle. Everything is
/// drawn in parts of the picture's size, so that a scaled copy resembles the pattern drawn at the smaller size.
public struct TestPattern: Sendable {
  public let width: Int
  public let height: Int
  public let format: PixelFormat
  /// One period of a wave, repeated so that any row can be copied out of it in one piece.
  private let lumaWave: [UInt8]
  private let chromaWaves: (u: [UInt8], v: [UInt8])
  private let lumaPeriod: Int
  private let chromaPeriod: Int

  /// - Parameters:
  ///   - width: pixels, at least 16.
  ///   - height: pixels, at least 16.
  ///   - format: how samples lie in memory; those of 10 bits are four times those of 8.
  public init(width: Int, height: Int, format: PixelFormat = .i420) {
    self.width = max(16, width)
    self.height = max(16, height)
    self.format = format
    lumaPeriod = max(8, self.height / 2)
    chromaPeriod = max(8, self.height)
    let chromaWidth = (self.width + 1) / 2
    lumaWave = Self.wave(period: lumaPeriod, count: self.width + lumaPeriod, low: 50, high: 200)
    chromaWaves = (
      Self.wave(period: chromaPeriod, count: chromaWidth + chromaPeriod, low: 96, high: 160),
      Self.wave(period: chromaPeriod, count: chromaWidth + chromaPeriod, low: 104, high: 152)
    )
  }

  /// Draws frame `index`, stamped with `milliseconds` of the wall clock.
  public func frame(index: UInt32, milliseconds: UInt32) -> PixelBuffer {
    let drawn = format == .nv12 ? format : .i420
    let picture = PixelBuffer(width: width, height: height, format: drawn) { planes in
      drawLuma(planes[0], index: index)
      drawChroma(planes, isInterleaved: drawn == .nv12, index: index)
      drawSquare(planes[0], index: index)
      FrameStamp(index: index, milliseconds: milliseconds).draw(into: planes, format: drawn)
    }
    return format == drawn ? picture : BitDepthConverter(limit: 1).convert(picture, to: 10)
  }

  /// How far waves have moved at a frame: a period every four seconds at 30 frames a second.
  private func shift(_ index: UInt32, period: Int) -> Int {
    Int(index % 120) * period / 120
  }

  private func drawLuma(_ plane: MutablePlane, index: UInt32) {
    let start = shift(index, period: lumaPeriod)
    unsafe lumaWave.withUnsafeBytes { wave in
      for y in 0..<plane.height {
        let offset = (start + y) % lumaPeriod
        unsafe plane.row(y).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: wave[offset..<offset + plane.width]))
      }
    }
  }

  private func drawChroma(_ planes: [MutablePlane], isInterleaved: Bool, index: UInt32) {
    let start = shift(index, period: chromaPeriod)
    unsafe chromaWaves.u.withUnsafeBytes { u in
      unsafe chromaWaves.v.withUnsafeBytes { v in
        for y in 0..<planes[1].height {
          // U drifts to the left and V to the right, so that hues change over time.
          let offsetU = (start + y) % chromaPeriod
          let offsetV = (2 * chromaPeriod - start + y) % chromaPeriod
          if !isInterleaved {
            let count = planes[1].width
            unsafe planes[1].row(y).copyMemory(
              from: UnsafeRawBufferPointer(rebasing: u[offsetU..<offsetU + count]))
            unsafe planes[2].row(y).copyMemory(
              from: UnsafeRawBufferPointer(rebasing: v[offsetV..<offsetV + count]))
          } else {
            let row = unsafe planes[1].row(y)
            for x in 0..<row.count / 2 {
              unsafe row[2 * x] = unsafe u[offsetU + x]
              unsafe row[2 * x + 1] = unsafe v[offsetV + x]
            }
          }
        }
      }
    }
  }

  private func drawSquare(_ plane: MutablePlane, index: UInt32) {
    let edge = plane.height / 6
    // A diamond-shaped path around the middle, once in 240 frames: corners test the prediction of motion.
    let step = Int(index % 240)
    let quarter = step / 60
    let part = step % 60
    let radius = plane.height / 4
    let along = radius * part / 60
    let (dx, dy) =
      switch quarter {
      case 0: (along, along - radius)
      case 1: (radius - along, along)
      case 2: (-along, radius - along)
      default: (along - radius, -along)
      }
    let left = max(0, min(plane.width - edge, plane.width / 2 + dx - edge / 2))
    let top = max(0, min(plane.height - edge, plane.height / 2 + dy - edge / 2))
    for y in top..<top + edge {
      unsafe (plane.base + y * plane.stride + left).initializeMemory(
        as: UInt8.self, repeating: 220, count: edge)
    }
  }

  /// `count` samples of a wave between `low` and `high` with smooth turning points: two parabolas a period.
  private static func wave(period: Int, count: Int, low: Int, high: Int) -> [UInt8] {
    (0..<count).map { position in
      let phase = position % period
      let half = period / 2
      let rising = phase < half
      let x = Double(rising ? phase : phase - half) / Double(rising ? half : period - half)
      let bow = 4 * x * (1 - x)
      let value = rising ? 0.5 + bow / 2 : 0.5 - bow / 2
      return UInt8(Double(low) + value * Double(high - low))
    }
  }
}
