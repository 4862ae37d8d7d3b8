import Foundation
import SoraCamera
import Testing

/// What is made of a driver's answers to VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES and VIDIOC_ENUM_FRAMEINTERVALS.
@Suite struct FormatListTests {
  private func range(
    _ width: (UInt32, UInt32, UInt32), _ height: (UInt32, UInt32, UInt32)
  ) -> FrameSizes {
    .range(
      width: FrameSteps(least: width.0, most: width.1, step: width.2),
      height: FrameSteps(least: height.0, most: height.1, step: height.2))
  }

  private func intervals(
    _ shortest: (UInt32, UInt32), _ longest: (UInt32, UInt32)
  ) -> FrameIntervals {
    FrameIntervals(
      shortest: .init(shortest.0, shortest.1), longest: .init(longest.0, longest.1))
  }

  private func sizes(_ sizes: FrameSizes) throws -> [String] {
    try MadeUpDriver(sizes: MadeUpDriver.list([sizes])).formats().map { "\($0.width)x\($0.height)" }
  }

  @Test func singleSizesStayInTheDriversOrder() throws {
    let driver = MadeUpDriver(
      formats: MadeUpDriver.list([.mjpeg, .yuyv]),
      sizes: MadeUpDriver.list([
        .one(width: 1280, height: 720), .one(width: 640, height: 480),
        // Some cameras tell their default again.
        .one(width: 1280, height: 720),
      ]),
      intervals: MadeUpDriver.list([
        intervals((1, 30), (1, 30)), intervals((1001, 30000), (1001, 30000)),
      ]))
    let formats = try driver.formats()
    #expect(
      formats.map(\.description) == [
        "MJPG 1280x720", "MJPG 640x480", "YUYV 1280x720", "YUYV 640x480",
      ])
    #expect(formats[0].frameRateRanges == [30...30, (30000.0 / 1001)...(30000.0 / 1001)])
  }

  /// A sensor of a Raspberry Pi, a loopback camera of any size, an encoder that counts by 16, and a thermal camera.
  @Test func aRangeHasTheSizesThatPeopleKnow() throws {
    #expect(
      try sizes(range((32, 2592, 2), (32, 1944, 2))) == [
        "160x120", "320x180", "320x240", "352x288", "640x360", "640x480", "800x600", "960x540",
        "1024x768", "1280x720", "1280x960", "1600x1200", "1920x1080", "2560x1440", "2592x1944",
      ])
    let any = try sizes(range((1, 8192, 1), (1, 8192, 1)))
    #expect(any.count == 17 && any.contains("4032x3024") && any.last == "8192x8192")
    #expect(
      try sizes(range((128, 1920, 16), (96, 1088, 16))) == [
        "160x112", "320x176", "320x240", "352x288", "640x352", "640x480", "800x592", "960x528",
        "1024x768", "1280x720", "1280x960", "1920x1072", "1920x1088",
      ], "as near below as the steps allow")
    #expect(try sizes(range((80, 80, 0), (60, 60, 0))) == ["80x60"])
    // Steps that miss what people know by more than a few pixels.
    #expect(try sizes(range((400, 1000, 300), (300, 900, 300))) == ["1000x900"])
  }

  @Test(arguments: [
    // Steps of nothing, ends before beginnings, nothing at all, and everything.
    (FrameSteps(least: 16, most: 640, step: 0), FrameSteps(least: 16, most: 480, step: 0)),
    (FrameSteps(least: 640, most: 16, step: 2), FrameSteps(least: 480, most: 16, step: 2)),
    (FrameSteps(least: 0, most: 0, step: 0), FrameSteps(least: 0, most: 0, step: 0)),
    (
      FrameSteps(least: 0, most: .max, step: 1), FrameSteps(least: 0, most: .max, step: 1)
    ),
    (
      FrameSteps(least: .max, most: .max, step: .max), FrameSteps(least: 0, most: 9, step: .max)
    ),
    (FrameSteps(least: 0, most: .max, step: .max), FrameSteps(least: 0, most: .max, step: .max)),
    (FrameSteps(least: 9000, most: 20000, step: 1), FrameSteps(least: 1, most: 8192, step: 1)),
    (FrameSteps(least: 16, most: 16384, step: 2), FrameSteps(least: 16, most: 16384, step: 2)),
  ])
  func noRangeTrapsOrHasNoEnd(width: FrameSteps, height: FrameSteps) throws {
    let driver = MadeUpDriver(sizes: { _ in .range(width: width, height: height) })
    let formats = try driver.formats()
    #expect(formats.count <= 17 && driver.questions < 1500)
    for format in formats {
      #expect(1...8192 ~= format.width && 1...8192 ~= format.height)
      #expect(format.width >= width.least && format.width <= width.most)
      #expect(format.height >= height.least && format.height <= height.most)
    }
    if width.step == 0, width.most == 640 { #expect(formats.last?.width == 640) }
    // What has no end isn't told as a size of the camera's.
    if width.most > 8192 { #expect(formats.allSatisfy { $0.width < 8192 }) }
  }

  /// A range is found at a standard size, and its rates are those that the driver has.
  @Test func wishesAreMetWithinARange() throws {
    let driver = MadeUpDriver(
      sizes: MadeUpDriver.list([range((32, 3280, 2), (32, 2464, 2))]),
      intervals: MadeUpDriver.list([intervals((1, 90), (1, 1))]))
    let formats = try driver.formats()
    let near = try #require(formats.nearest(width: 1300, height: 700, framesPerSecond: 30))
    #expect(near.description == "NV12 1280x720" && near.frameRateRanges == [1...90])
    #expect(near.frameRate(upTo: 25) == 25 && near.frameRate(upTo: 120) == 90)
    #expect(near.maximumFrameRate == 90)
    #expect(formats.nearest(width: 9999, height: 9999)?.description == "NV12 3280x2464")
  }

  /// Each answer about intervals alone, and what is made of it.
  @Test func ratesOfAnyIntervals() throws {
    let cases: [(FrameIntervals, [ClosedRange<Double>])] = [
      (intervals((1, 60), (1, 5)), [5...60]),
      // v4l2loopback's, whose longest has no end.
      (intervals((1, 1000), (1, 0)), [0...1000]),
      (intervals((0, 1), (1, 5)), []), (intervals((0, 0), (0, 0)), []),
      (intervals((1, 0), (1, 0)), []), (intervals((1, 60), (0, 0)), []),
      // The wrong way round.
      (intervals((1, 5), (1, 60)), []),
      (intervals((1, .max), (.max, 1)), [(1 / Double(UInt32.max))...Double(UInt32.max)]),
    ]
    for (answer, rates) in cases {
      let driver = MadeUpDriver(
        sizes: MadeUpDriver.list([.one(width: 8, height: 8)]),
        intervals: MadeUpDriver.list([answer]))
      #expect(try driver.formats().map(\.frameRateRanges) == [rates], "\(answer)")
    }
  }

  @Test func whatIsAskedForIsARate() {
    let cases: [(Double, UInt32)] = [
      (30, 30_000), (29.97, 29_970), (0.5, 500), (0, 1), (-1, 1), (.nan, 1), (1e-9, 1),
      (.infinity, 4_000_000_000), (1e300, 4_000_000_000),
    ]
    for (rate, thousandths) in cases {
      #expect(FrameIntervals.Fraction(framesPerSecond: rate) == .init(1000, thousandths))
    }
  }

  /// Lists that don't end, of answers that repeat and of ones that never do.
  @Test func listsWithoutAnEndAreEnded() throws {
    let same = MadeUpDriver(
      formats: { _ in .nv12 }, sizes: { _ in .one(width: 64, height: 32) },
      intervals: { _ in FrameIntervals(shortest: .init(1, 30), longest: .init(1, 30)) })
    #expect(try same.formats().count == 1 && same.questions < 1000)
    let other = MadeUpDriver(
      formats: { index in CameraPixelFormat(rawValue: index) },
      sizes: { index in .one(width: index + 1, height: .max) })
    #expect(try other.formats().count == 4096 && other.questions < 200_000)
  }

  /// Television and HDMI inputs have one size, which is set elsewhere.
  @Test(arguments: [EINVAL, ENOTTY]) func aDriverWithoutAListHasItsPresentSize(code: Int32) throws {
    let driver = MadeUpDriver(
      sizes: MadeUpDriver.list([], then: code), present: .success(.one(width: 720, height: 576)))
    #expect(try driver.formats().map(\.description) == ["NV12 720x576"])
    let none = MadeUpDriver(sizes: MadeUpDriver.list([], then: code))
    #expect(try none.formats().isEmpty)
    let empty = MadeUpDriver(
      sizes: MadeUpDriver.list([.one(width: 0, height: 0)]),
      present: .success(.one(width: 0, height: 0)))
    #expect(try empty.formats().isEmpty)
  }

  /// Other errors than the end of a list are told, wherever they come.
  @Test func errorsAreTold() {
    let sizes = MadeUpDriver.list([FrameSizes.one(width: 8, height: 8)])
    let cases: [(MadeUpDriver, CameraError)] = [
      (
        MadeUpDriver(formats: MadeUpDriver.list([.nv12], then: ENODEV), sizes: sizes),
        .unplugged(path: "/dev/video7")
      ),
      (
        MadeUpDriver(sizes: MadeUpDriver.list([], then: EIO)),
        .system(operation: "listing the sizes", path: "/dev/video7", code: EIO)
      ),
      (
        MadeUpDriver(sizes: sizes, intervals: MadeUpDriver.list([], then: EBUSY)),
        .busy(path: "/dev/video7")
      ),
      (
        MadeUpDriver(
          sizes: MadeUpDriver.list([]), present: .failure(DriverFailure(EIO))),
        .system(operation: "reading the format", path: "/dev/video7", code: EIO)
      ),
    ]
    for (driver, error) in cases { #expect(throws: error) { try driver.formats() } }
  }
}
