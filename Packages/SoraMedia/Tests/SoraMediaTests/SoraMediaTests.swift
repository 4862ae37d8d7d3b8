import SoraClock
import SoraMedia
import Testing

@Suite struct InstantTests {
  @Test func arithmeticSaturatesInsteadOfTrapping() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant(nanoseconds: .min) - .seconds(1) == Instant(nanoseconds: .min))
    #expect(Instant.zero + .milliseconds(5) - .milliseconds(2) == Instant(nanoseconds: 3_000_000))
    #expect((Instant.zero + .seconds(2)) - (Instant.zero + .seconds(3)) == .seconds(-1))
  }

  @Test func theSystemClockMovesForwards() {
    let a = SystemClock.now
    #expect(SystemClock.now >= a)
    #expect(SystemClock.realtimeMilliseconds > 1_700_000_000_000)
  }
}

@Suite struct RandomSourceTests {
  @Test func forksOfASeedHaveSequencesOfTheirOwn() {
    let source = RandomSource(seed: 1)
    let fork = source.fork()
    let expected = (0..<4).map { _ in fork.next() }
    let again = RandomSource(seed: 1)
    let other = again.fork()
    // What the fork's owner drew doesn't change what the source gives.
    #expect(source.next() == again.next())
    #expect((0..<4).map { _ in other.next() } == expected)
  }

  /// 64 bits of seed would decide every key that is drawn from a fork.
  @Test func forksOfAGeneratorStayOverIt() {
    var drawn: UInt64 = 0
    let source = RandomSource {
      drawn += 1
      return drawn
    }
    let fork = source.fork()
    #expect(drawn == 0)
    #expect(fork.next() == 1)
    #expect(fork.fork().next() == 2)
    #expect(source.next() == 3)
  }

  @Test func oneSeedGivesOneSequence() {
    // SplitMix64 with seed 1234567 (reference values of the Rosetta Code task "Pseudo-random numbers/Splitmix64").
    let source = RandomSource(seed: 1_234_567)
    #expect(source.next() == 6_457_827_717_110_365_317)
    #expect(source.next() == 3_203_168_211_198_807_973)
  }

  @Test func iceStringsUseTheAlphabet() {
    let text = RandomSource(seed: 1).iceString(200)
    #expect(text.count == 200)
    #expect(
      text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
  }
}

@Suite struct PixelBufferTests {
  @Test(arguments: [(1, 1), (16, 16), (639, 479), (1280, 720)])
  func planesHaveTheRoundedUpSizes(size: (Int, Int)) {
    for format in [PixelFormat.i420, .nv12] {
      let buffer = PixelBuffer(width: size.0, height: size.1, format: format) { planes in
        #expect(planes.count == format.planeCount)
        for (index, plane) in planes.enumerated() {
          for y in 0..<plane.height {
            plane.row(y).initializeMemory(as: UInt8.self, repeating: UInt8(index + 1))
          }
        }
      }
      #expect(buffer.plane(0).row(size.1 - 1)[size.0 - 1] == 1)
      let chroma = buffer.plane(1)
      #expect(chroma.height == (size.1 + 1) / 2)
      #expect(chroma.row(chroma.height - 1)[chroma.width - 1] == 2)
    }
  }

  @Test func memoryIsGivenBackOnce() {
    final class Counter: @unchecked Sendable { var value = 0 }
    let counter = Counter()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 6, alignment: 1)
    defer { memory.deallocate() }
    do {
      let frame = RawVideoFrame(
        buffer: PixelBuffer(
          width: 2, height: 2, y: memory, yStride: 2, u: memory + 4, uStride: 1, v: memory + 5,
          vStride: 1
        ) { counter.value += 1 }, timestamp: .zero)
      let copy = frame
      #expect(copy.buffer === frame.buffer)
    }
    #expect(counter.value == 1)
  }
}

@Suite struct EncodedBufferTests {
  @Test func growsAndKeepsItsBytes() {
    let buffer = EncodedBuffer(capacity: 1)
    for byte in 0..<200 { withUnsafeBytes(of: UInt8(byte)) { buffer.append($0) } }
    #expect(Array(buffer.bytes) == (0..<200).map { UInt8($0) })
  }
}

@Suite struct EncodedFrameLayersTests {
  @Test func describesUpToFourLayersAndIgnoresMore() {
    var layers = EncodedFrameLayers()
    #expect(layers.count == 0)
    for index in 0..<6 {
      layers.append(SpatialLayerFrame(spatialLayer: index, end: 100 * (index + 1)))
    }
    #expect(layers.count == EncodedFrameLayers.maximumSpatialLayers)
    for index in 0..<layers.count { #expect(layers[index].end == 100 * (index + 1)) }
    #expect(!layers[0].isInterPicturePredicted)
  }

  @Test func writtenBytesCanBeReplaced() {
    let buffer = EncodedBuffer([1, 2, 3, 4])
    [9, 8].withUnsafeBytes {
      buffer.replace(at: 2, with: UnsafeRawBufferPointer(rebasing: $0[0..<1]))
    }
    #expect(Array(buffer.bytes) == [1, 2, 9, 4])
    buffer.mark = 3
    buffer.reset()
    #expect(buffer.mark == 0 && buffer.count == 0)
  }
}
