import SoraCapture
import SoraMedia
import Testing

@Suite struct FrameStampTests {
  @Test(arguments: PixelFormat.allCases)
  func aStampIsReadBackFromItsPicture(format: PixelFormat) throws {
    for (width, height) in [(1280, 720), (640, 360), (320, 180), (641, 361), (40, 40)] {
      let pattern = TestPattern(width: width, height: height, format: format)
      for index in [0, 1, 12345, UInt32.max] as [UInt32] {
        let stamp = FrameStamp(index: index, milliseconds: index &* 77 &+ 1)
        let picture = pattern.frame(index: index, milliseconds: stamp.milliseconds)
        #expect(FrameStamp(reading: picture) == stamp)
      }
    }
  }

  @Test func aPictureWithoutAStampHasNone() {
    let grey = PixelBuffer(width: 640, height: 360) { planes in
      for plane in planes {
        for y in 0..<plane.height {
          plane.row(y).initializeMemory(as: UInt8.self, repeating: UInt8(y & 0xFF))
        }
      }
    }
    #expect(FrameStamp(reading: grey) == nil)
    let tiny = PixelBuffer(width: 16, height: 1) { _ in }
    #expect(FrameStamp(reading: tiny) == nil)
  }

  @Test func theBitsLieWhereTheDesignSaysTheyDo() {
    let picture = TestPattern(width: 80, height: 60).frame(index: 0x8000_0001, milliseconds: 0)
    let row = picture.plane(0).row(0)
    #expect(row[0] == 235 && row[1] == 235, "most significant bit first, blocks of two pixels")
    #expect(row[2] == 16)
    #expect(row[62] == 235, "bit 0 is block 31")
    // CRC-8 (polynomial 0x07) of 80 00 00 01 worked out with the reference algorithm of the catalogue's CRC-8/SMBUS.
    var crc: UInt8 = 0
    for byte in [0x80, 0, 0, 1] as [UInt8] {
      crc ^= byte
      for _ in 0..<8 { crc = crc & 0x80 != 0 ? (crc << 1) ^ 7 : crc << 1 }
    }
    for bit in 0..<8 {
      #expect((row[64 + 2 * bit] == 235) == (crc >> (7 - UInt8(bit)) & 1 == 1))
    }
    #expect(picture.plane(1).row(0)[0] == 128)
  }

  @Test func ageSurvivesTheWrapOfTheClock() {
    let stamp = FrameStamp(index: 0, milliseconds: UInt32.max - 5)
    #expect(stamp.age(atRealtimeMilliseconds: 10 + 4_294_967_296) == 16)
  }
}

@Suite struct TestPatternTests {
  @Test func aPictureIsAFunctionOfItsIndex() {
    let a = TestPattern(width: 320, height: 180).frame(index: 77, milliseconds: 1)
    let b = TestPattern(width: 320, height: 180).frame(index: 77, milliseconds: 1)
    let c = TestPattern(width: 320, height: 180).frame(index: 78, milliseconds: 1)
    #expect(PictureQuality.psnr(a, b) == 100)
    #expect((PictureQuality.psnr(a, c) ?? 100) < 45, "the picture moves")
  }

  @Test func qualityDropsWithNoiseAndIgnoresTheLayout() throws {
    let planar = TestPattern(width: 321, height: 181).frame(index: 5, milliseconds: 9)
    let interleaved = TestPattern(width: 321, height: 181, format: .nv12).frame(
      index: 5, milliseconds: 9)
    #expect(PictureQuality.psnr(planar, interleaved) == 100)
    let deep = TestPattern(width: 321, height: 181, format: .i010).frame(index: 5, milliseconds: 9)
    #expect(deep.format == .i010)
    #expect(PictureQuality.psnr(planar, deep) == 100)
    #expect(PictureQuality.psnr(deep, interleaved) == 100)
    let noisy = PixelBuffer(width: 321, height: 181) { planes in
      for (index, plane) in planes.enumerated() {
        let source = planar.plane(index)
        for y in 0..<plane.height {
          for x in 0..<plane.width { plane.row(y)[x] = source.row(y)[x] ^ 4 }
        }
      }
    }
    let quality = try #require(PictureQuality.psnr(planar, noisy))
    #expect(abs(quality - 36.09) < 0.05, "an error of 4 in every sample is 36.1 dB")
    #expect(
      PictureQuality.psnr(
        planar, TestPattern(width: 320, height: 181).frame(index: 0, milliseconds: 0)) == nil)
  }
}
