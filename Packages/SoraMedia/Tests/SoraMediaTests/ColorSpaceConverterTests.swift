import Foundation
import SoraMedia
import Testing

/// From one space to another, and which way of lying in memory.
private struct Conversion: CustomTestStringConvertible, Sendable {
  let source: VideoColorSpace
  let target: VideoColorSpace
  let format: PixelFormat
  var testDescription: String { "\(source) to \(target), \(format)" }

  static let all = spaces.flatMap { source in
    spaces.filter { $0 != source }.flatMap { target in
      PixelFormat.allCases.map { Conversion(source: source, target: target, format: $0) }
    }
  }

  private static let spaces = [false, true].flatMap { isFull in
    [VideoColorSpace.Matrix.bt601, .bt709].map { VideoColorSpace(matrix: $0, isFullRange: isFull) }
  }
}

/// ITU-T H.273 equations 38 to 58 in floating point, with the numbers of its table 4: the oracle.
private enum Reference {
  static func weights(_ space: VideoColorSpace) -> (red: Double, green: Double, blue: Double) {
    space.matrix == .bt601 ? (0.299, 0.587, 0.114) : (0.2126, 0.7152, 0.0722)
  }

  static func rgb(_ sample: [Double], _ space: VideoColorSpace, bits: Int) -> [Double] {
    let weights = weights(space)
    let (finer, full) = (exp2(Double(bits - 8)), exp2(Double(bits)) - 1)
    let luma = space.isFullRange ? sample[0] / full : (sample[0] / finer - 16) / 219
    let chroma = space.isFullRange ? full : 224 * finer
    let cb = (sample[1] - 128 * finer) / chroma
    let cr = (sample[2] - 128 * finer) / chroma
    let red = luma + 2 * (1 - weights.red) * cr
    let blue = luma + 2 * (1 - weights.blue) * cb
    return [red, (luma - weights.red * red - weights.blue * blue) / weights.green, blue]
  }

  static func samples(_ rgb: [Double], _ space: VideoColorSpace, bits: Int) -> [Double] {
    let weights = weights(space)
    let (finer, full) = (exp2(Double(bits - 8)), exp2(Double(bits)) - 1)
    let luma = weights.red * rgb[0] + weights.green * rgb[1] + weights.blue * rgb[2]
    let cb = (rgb[2] - luma) / (2 * (1 - weights.blue))
    let cr = (rgb[0] - luma) / (2 * (1 - weights.red))
    let made =
      space.isFullRange
      ? [full * luma, full * cb + 128 * finer, full * cr + 128 * finer]
      : [219 * luma + 16, 224 * cb + 128, 224 * cr + 128].map { finer * $0 }
    return made.map { min(max($0, 0), full) }
  }
}

@Suite struct ColorSpaceConverterTests {
  @Test(arguments: Conversion.all)
  private func colorsStay(_ conversion: Conversion) {
    let random = RandomSource(seed: 12)
    let converter = ColorSpaceConverter()
    for (width, height) in [(64, 48), (33, 17), (1, 1), (2, 5), (131, 2)] {
      let picture = noise(width, height, conversion.format, random)
      let made = converter.convert(picture, from: conversion.source, to: conversion.target)
      #expect(made.width == width && made.height == height && made.format == conversion.format)
      var worst = 0.0
      for y in 0..<height {
        for x in 0..<width {
          let bits = conversion.format.bitDepth
          let old = sample(picture, x, y).map(Double.init)
          let expected = Reference.samples(
            Reference.rgb(old, conversion.source, bits: bits), conversion.target, bits: bits)
          let new = sample(made, x, y).map(Double.init)
          for (a, b) in zip(new, expected) { worst = max(worst, abs(a - b)) }
        }
      }
      // Half a step of rounding, and what factors of 14 bits leave of it.
      #expect(
        worst < (conversion.format.bitDepth == 8 ? 0.53 : 0.6), "\(width)x\(height): \(worst)")
    }
  }

  @Test func oneSpaceNeedsNoCopy() {
    let picture = noise(16, 16, .i420, RandomSource(seed: 1))
    let converter = ColorSpaceConverter()
    #expect(converter.convert(picture, from: .bt709, to: .bt709) === picture)
  }

  @Test func memoryIsUsedAgain() {
    let picture = noise(16, 16, .i420, RandomSource(seed: 1))
    let converter = ColorSpaceConverter(limit: 1)
    let first = ObjectIdentifier(converter.convert(picture, from: .bt709, to: .bt601))
    let second = ObjectIdentifier(converter.convert(picture, from: .bt709, to: .bt601))
    #expect(first == second)
  }
}

@Suite struct VideoColorSpaceTests {
  @Test func streamsSayWhatTheyAre() {
    for isFull in [false, true] {
      for matrix in [VideoColorSpace.Matrix.bt601, .bt709] {
        let space = VideoColorSpace(matrix: matrix, isFullRange: isFull)
        #expect(
          VideoColorSpace(
            matrixCoefficients: space.codePoints.matrixCoefficients, isFullRange: isFull) == space)
      }
    }
    // Not told, and BT.2020: nothing that is known here.
    #expect(VideoColorSpace(matrixCoefficients: 2, isFullRange: false) == nil)
    #expect(VideoColorSpace(matrixCoefficients: 9, isFullRange: false) == nil)
    #expect(VideoColorSpace(matrixCoefficients: 2, isFullRange: true)?.isFullRange == true)
    #expect(VideoColorSpace(vp9ColorSpace: 2, isFullRange: false) == .bt709)
    #expect(VideoColorSpace(vp9ColorSpace: 3, isFullRange: false) == .bt601)
    #expect(VideoColorSpace(vp9ColorSpace: 0, isFullRange: false) == nil)
  }

  @Test func aFrameThatSaysNothingIsLimitedBT601() {
    let picture = PixelBuffer(width: 2, height: 2) { _ in }
    var frame = RawVideoFrame(buffer: picture, timestamp: .zero)
    #expect(frame.statedColorSpace == nil && frame.colorSpace == .bt601)
    frame.colorSpace = .bt709
    #expect(frame.statedColorSpace == .bt709)
  }
}
