import CSoraMallocCount
import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraScaling
import Testing

@Suite struct ScalingTests {
  @Test(arguments: [
    (640, 360, 320, 180), (640, 360, 480, 270), (640, 360, 160, 90), (641, 361, 321, 181),
    (333, 77, 111, 25), (320, 180, 213, 121), (160, 90, 320, 180), (99, 51, 150, 80),
    (1280, 720, 64, 36), (2, 2, 1, 1), (1, 1, 5, 3),
  ])
  func agreesWithAPlainReference(_ sizes: (Int, Int, Int, Int)) throws {
    let (width, height, newWidth, newHeight) = sizes
    let source = Pictures.make(width, height, index: 3)
    let expected = ReferenceScaling.scale(source, width: newWidth, height: newHeight)
    let scaled = try PictureScaler().scale(source, width: newWidth, height: newHeight)
    #expect(scaled.format == .i420 && scaled.width == newWidth && scaled.height == newHeight)
    let psnr = Pictures.psnr(scaled, expected)
    #expect(psnr > 33, "\(psnr) dB")
    // Of 10 bits the same, and with no other way to round than they have.
    let deep = try PictureScaler().scale(Pictures.deep(source), width: newWidth, height: newHeight)
    #expect(deep.format == .i010 && deep.width == newWidth && deep.height == newHeight)
    #expect(Pictures.psnr(deep, scaled) > 45)
  }

  @Test(arguments: [(640, 360, 320, 180), (639, 357, 425, 239), (322, 182, 161, 91)])
  func nv12ComesOutAsI420Does(_ sizes: (Int, Int, Int, Int)) throws {
    let (width, height, newWidth, newHeight) = sizes
    let planar = Pictures.make(width, height, index: 5)
    let interleaved = Pictures.make(width, height, index: 5, format: .nv12)
    let expected = try PictureScaler().scale(planar, width: newWidth, height: newHeight)
    // Kept interleaved while scaled, then split; split while scaled; and from planar to interleaved and back.
    let kept = try PictureScaler().scale(interleaved, width: newWidth, height: newHeight)
    #expect(kept.format == .nv12)
    let ways = [
      try PictureScaler().scale(kept, width: newWidth, height: newHeight, format: .i420),
      try PictureScaler().scale(interleaved, width: newWidth, height: newHeight, format: .i420),
      try PictureScaler().scale(
        PictureScaler().scale(planar, width: newWidth, height: newHeight, format: .nv12),
        width: newWidth, height: newHeight, format: .i420),
    ]
    for way in ways {
      let psnr = Pictures.psnr(way, expected)
      #expect(psnr > 40, "\(psnr) dB")
    }
  }

  @Test(arguments: [(64, 48), (63, 47), (1, 1), (17, 2)])
  func conversionKeepsEverySample(_ size: (Int, Int)) throws {
    let picture = Pictures.make(size.0, size.1, index: 1, padding: 13)
    let scaler = PictureScaler()
    let there = try scaler.scale(picture, width: size.0, height: size.1, format: .nv12)
    let back = try PictureScaler().scale(there, width: size.0, height: size.1, format: .i420)
    #expect(there.format == .nv12)
    #expect(Pictures.bytes(back) == Pictures.bytes(picture))
  }

  @Test func stridesDontChangeTheResult() throws {
    for format in [PixelFormat.i420, .nv12] {
      let tight = Pictures.make(301, 167, index: 2, format: format)
      let padded = Pictures.make(301, 167, index: 2, format: format, padding: 37)
      let a = try PictureScaler().scale(tight, width: 150, height: 83, format: .i420)
      let b = try PictureScaler().scale(padded, width: 150, height: 83, format: .i420)
      #expect(Pictures.bytes(a) == Pictures.bytes(b))
    }
  }

  @Test func otherDepthsComeOutAsTheyAreAsked() throws {
    let picture = Pictures.make(101, 81, index: 4)
    let deep = Pictures.deep(picture)
    for (source, format) in [(picture, PixelFormat.i010), (deep, .i420), (deep, .nv12)] {
      let whole = try PictureScaler().scale(source, width: 101, height: 81, format: format)
      #expect(whole.format == format)
      let back = try PictureScaler().scale(whole, width: 101, height: 81, format: .i420)
      #expect(Pictures.bytes(back) == Pictures.bytes(picture))
      let half = try PictureScaler().scale(source, width: 50, height: 40, format: format)
      let expected = try PictureScaler().scale(picture, width: 50, height: 40)
      let seen = try PictureScaler().scale(half, width: 50, height: 40, format: .i420)
      #expect(half.format == format && Pictures.psnr(seen, expected) > 40)
    }
  }

  @Test func whatNeedsNothingIsPassedOn() throws {
    let picture = Pictures.make(64, 48, index: 0)
    #expect(try PictureScaler().scale(picture, width: 64, height: 48) === picture)
  }

  @Test func aCropTakesTheSamplesOfItsPlace() throws {
    let picture = Pictures.make(101, 81, index: 4)
    for format in PixelFormat.allCases {
      let source = try PictureScaler().scale(picture, width: 101, height: 81, format: format)
      let part = try PictureScaler().scale(
        source, crop: PixelRectangle(x: 11, y: 20, width: 33, height: 41), width: 33, height: 41,
        format: .i420)
      for y in 0..<41 {
        #expect(
          (0..<33).allSatisfy { part.plane(0).row(y)[$0] == picture.plane(0).row(y + 20)[$0 + 10] })
      }
      for index in 1...2 {
        for y in 0..<21 {
          #expect(
            (0..<17).allSatisfy {
              part.plane(index).row(y)[$0] == picture.plane(index).row(y + 10)[$0 + 5]
            })
        }
      }
    }
  }

  @Test func nonsenseIsRefused() {
    let picture = Pictures.make(64, 48, index: 0)
    let scaler = PictureScaler()
    for size in [(0, 5), (5, -1), (20_000, 4)] {
      #expect(throws: CodecError.self) {
        try scaler.scale(picture, width: size.0, height: size.1)
      }
    }
    for crop in [
      PixelRectangle(x: -1, y: 0, width: 4, height: 4),
      PixelRectangle(x: 61, y: 0, width: 4, height: 4),
      PixelRectangle(x: .max, y: 0, width: 4, height: 4),
      PixelRectangle(x: 0, y: 0, width: 0, height: 4),
      PixelRectangle(x: 0, y: 0, width: .max, height: 4),
    ] {
      #expect(throws: CodecError.self) {
        try scaler.scale(picture, crop: crop, width: 4, height: 4)
      }
    }
  }

  @Test(
    .enabled(
      if: sora_malloc_count_is_telling() != 0,
      "allocations aren't counted in this build (debug, or sanitizers)"
    ),
    arguments: [
      (PixelFormat.i420, PixelFormat.i420), (.nv12, .nv12), (.nv12, .i420), (.i420, .nv12),
      (.i010, .i010), (.i010, .i420), (.i010, .nv12), (.nv12, .i010),
    ])
  func steadyStateAllocatesNothing(_ formats: (PixelFormat, PixelFormat)) throws {
    #expect(sora_malloc_exclude("libyuv.so") == 1)
    let scaler = PictureScaler()
    let picture = Pictures.make(320, 180, index: 0, format: formats.0)
    var count: UInt64 = 0
    for index in 0..<60 {
      let start = sora_malloc_count_of_own()
      _ = try scaler.scale(picture, width: 212, height: 120, format: formats.1)
      if index >= 20 { count += sora_malloc_count_of_own() - start }
    }
    #expect(count == 0, "\(count) in 40 pictures")
  }
}
