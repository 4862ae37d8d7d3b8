import SoraMedia
import Testing

@Suite struct BitDepthConverterTests {
  private static let sizes = [(64, 48), (33, 17), (1, 1), (2, 5), (131, 2)]

  @Test(arguments: [PixelFormat.i420, .nv12])
  func eachSampleIsFourTimesItself(_ format: PixelFormat) {
    let converter = BitDepthConverter()
    for (width, height) in Self.sizes {
      let picture = noise(width, height, format, RandomSource(seed: 5))
      let made = converter.convert(picture, to: 10)
      #expect(made.format == .i010 && made.width == width && made.height == height)
      for y in 0..<height {
        for x in 0..<width {
          #expect(sample(made, x, y) == sample(picture, x, y).map { 4 * $0 }, "\(x), \(y)")
        }
      }
      let back = converter.convert(made, to: 8)
      #expect(back.format == .i420)
      #expect(sample(back, width - 1, height - 1) == sample(picture, width - 1, height - 1))
    }
  }

  @Test func samplesAreRounded() {
    let converter = BitDepthConverter()
    for (width, height) in Self.sizes {
      let picture = noise(width, height, .i010, RandomSource(seed: 6))
      let made = converter.convert(picture, to: 8)
      for y in 0..<height {
        for x in 0..<width {
          let expected = sample(picture, x, y).map { min(255, ($0 + 2) / 4) }
          #expect(sample(made, x, y) == expected, "\(x), \(y)")
        }
      }
    }
  }

  @Test func theSameDepthNeedsNoCopyAndMemoryIsUsedAgain() {
    let converter = BitDepthConverter(limit: 1)
    for format in PixelFormat.allCases {
      let picture = noise(16, 16, format, RandomSource(seed: 1))
      #expect(converter.convert(picture, to: format.bitDepth) === picture)
    }
    let picture = noise(16, 16, .i420, RandomSource(seed: 1))
    let first = ObjectIdentifier(converter.convert(picture, to: 10))
    #expect(first == ObjectIdentifier(converter.convert(picture, to: 10)))
  }
}
