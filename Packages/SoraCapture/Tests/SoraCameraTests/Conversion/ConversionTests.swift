import SoraCamera
import SoraMedia
import Synchronization
import Testing

/// What becomes of each raw format's bytes, computed from the documentation's tables and BT.601's formula (H.273 §8.3).
@Suite struct ConversionTests {
  /// Even and odd, down to one pixel.
  private static let sizes = [(16, 6), (7, 5), (1, 1), (33, 2), (2, 3)]
  /// Bytes behind each row.
  private static let padding = 6

  /// A picture whose neighbours differ.
  private static func pixels(_ width: Int, _ height: Int) -> [[[Int]]] {
    var state: UInt32 = 7
    return (0..<height).map { _ in
      (0..<width).map { _ in
        (0..<3).map { _ in
          state = state &* 1_664_525 &+ 1_013_904_223
          return Int(state >> 24)
        }
      }
    }
  }

  /// What a camera with these planes of memory gives.
  private static func picture(
    _ name: String, _ width: Int, _ height: Int, strides: [Int], planes: [[UInt8]],
    isLimited: Bool = false, hueSteps: Int = 180
  ) throws -> PixelBuffer? {
    let format = try #require(CameraPixelFormat(name))
    #expect("\(format)" == name && format.isSupported)
    let layout = PictureLayout(
      pixelFormat: format, width: width, height: height, strides: strides,
      isLimited: isLimited, hueSteps: hueSteps)
    let driver = StandInDriver(layout, planes: planes)
    let taken = Mutex<PixelBuffer?>(nil)
    let capture = try CameraCapture(
      CameraDevice(path: "/dev/video7", name: "Stand-in", bus: "none", driver: "none"),
      driver: driver, format: CameraFormat(pixelFormat: format, width: width, height: height),
      framesPerSecond: 30,
      deliver: { frame in
        if case .picture(let picture) = frame.content { taken.withLock { $0 = picture } }
      }, notify: { _ in })
    driver.fill(sequence: 1)
    pause(while: capture.statistics.frames + capture.statistics.framesBroken == 0)
    capture.stop()
    #expect(capture.statistics.frames + capture.statistics.framesBroken == 1)
    return taken.withLock { $0 }
  }

  /// Y, U and V of a colour by BT.601, limited.
  private static func yuv(_ rgb: [Double]) -> [Double] {
    let (r, g, b) = (rgb[0] / 255, rgb[1] / 255, rgb[2] / 255)
    let y = 0.299 * r + 0.587 * g + 0.114 * b
    return [16 + 219 * y, 128 + 224 * (b - y) / 1.772, 128 + 224 * (r - y) / 1.402]
  }

  /// Compares a picture with wanted Y, U and V of its pixels; chroma is the mean of up to four.
  private static func expect(
    _ picture: PixelBuffer?, _ wanted: [[[Double]]], within tolerance: Double, _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let picture = try #require(picture, "\(name)", sourceLocation: sourceLocation)
    let (height, width) = (wanted.count, wanted[0].count)
    #expect(picture.width == width && picture.height == height, sourceLocation: sourceLocation)
    var worst = 0.0
    for y in 0..<height {
      for x in 0..<width {
        worst = max(worst, abs(Double(picture.plane(0).row(y)[x]) - wanted[y][x][0]))
      }
    }
    for y in 0..<picture.chromaHeight {
      for x in 0..<picture.chromaWidth {
        let rows = [y * 2, min(y * 2 + 1, height - 1)]
        let columns = [x * 2, min(x * 2 + 1, width - 1)]
        for sample in 1...2 {
          let mean =
            rows.flatMap { row in columns.map { wanted[row][$0][sample] } }.reduce(0, +) / 4
          let seen =
            picture.format == .nv12
            ? picture.plane(1).row(y)[x * 2 + sample - 1] : picture.plane(sample).row(y)[x]
          worst = max(worst, abs(Double(seen) - mean))
        }
      }
    }
    #expect(
      worst <= tolerance, "\(name) \(width)x\(height): \(worst)", sourceLocation: sourceLocation)
  }

  @Test(.timeLimit(.minutes(5)), arguments: DocumentedFormat.packed.map(\.names))
  func packed(names: String) throws {
    let format = try #require(DocumentedFormat.packed.first { $0.names == names })
    let isYUV = format.bytes.contains("y")
    for (width, height) in Self.sizes {
      var bytes: [UInt8] = []
      var wanted: [[[Double]]] = []
      for row in Self.pixels(width, height) {
        wanted.append([])
        for pixel in row {
          let packed = DocumentedFormat.pack(
            pixel, format.bytes, isBigEndian: format.isBigEndian)
          bytes += packed.bytes
          let samples = packed.kept.map { kept in
            isYUV
              ? Double(kept.value << (8 - kept.bits))
              : Double(kept.value) * 255 / Double(1 << kept.bits - 1)
          }
          wanted[wanted.count - 1].append(isYUV ? samples : Self.yuv(samples))
        }
        bytes += Array(repeating: 0xA5, count: Self.padding)
      }
      let stride = bytes.count / height
      for name in names.split(separator: " ").map(String.init) {
        let seen = try Self.picture(name, width, height, strides: [stride], planes: [bytes])
        // libyuv rounds the mean of two before that of four, and expands 5 bits by repeating them.
        try Self.expect(seen, wanted, within: isYUV ? 1 : 3, name)
        // The last row's padding may be missing, no sample may.
        let end = bytes.count - Self.padding
        let whole = Array(bytes.prefix(end))
        #expect(
          try Self.picture(name, width, height, strides: [stride], planes: [whole]) != nil)
        let short = Array(bytes.prefix(end - 1))
        #expect(
          try Self.picture(name, width, height, strides: [stride], planes: [short]) == nil)
        let overlapping = stride - Self.padding - 1
        #expect(throws: CameraError.self) {
          try Self.picture(name, width, height, strides: [overlapping], planes: [bytes])
        }
      }
    }
  }

  /// The colours of a test card, and their Y, U and V by BT.601 (BT.601-7 §3.5.3), as tables of studios have them.
  private static let card: [(rgb: [Int], yuv: [Double])] = [
    ([255, 255, 255], [235, 128, 128]), ([0, 0, 0], [16, 128, 128]),
    ([255, 0, 0], [81, 90, 240]), ([0, 255, 0], [145, 54, 34]), ([0, 0, 255], [41, 240, 110]),
    ([255, 255, 0], [210, 16, 146]), ([0, 255, 255], [170, 166, 16]),
    ([255, 0, 255], [106, 202, 222]),
  ]

  /// RGB goes from 0 to 255, unless the driver says that it goes from 16 to 235; its pictures always do the latter.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "RGB3", "BGR3", "XR24", "BX24", "XB24", "RX24", "RGBP", "XR15", "XR12", "RGBR", "BGRH",
    ], [false, true])
  func rgbOfEachRange(name: String, isLimited: Bool) throws {
    let format = try #require(
      DocumentedFormat.packed.first { $0.names.split(separator: " ").contains(Substring(name)) })
    // Few bits have no 16 and no 235.
    let isWhole = format.bytes.count { $0 == "r" } == 8
    guard isWhole || !isLimited else { return }
    for (rgb, yuv) in Self.card {
      let samples = isLimited ? rgb.map { 16 + $0 * 219 / 255 } : rgb
      let pixel = DocumentedFormat.pack(samples, format.bytes, isBigEndian: format.isBigEndian)
        .bytes
      let bytes = Array(repeating: pixel, count: 4 * 2).flatMap { $0 }
      let seen = try Self.picture(
        name, 4, 2, strides: [pixel.count * 4], planes: [bytes], isLimited: isLimited)
      let wanted = Array(repeating: Array(repeating: yuv, count: 4), count: 2)
      try Self.expect(seen, wanted, within: isLimited ? 2 : 1, "\(name) \(rgb)")
    }
  }

  /// Others have a range of their own, whatever the driver says.
  @Test(.timeLimit(.minutes(5))) func onlyRGBCanBeLimited() throws {
    for (name, stride) in [("YUYV", 8), ("NV12", 4), ("HSV3", 12), ("BA81", 4), ("GREY", 4)] {
      let bytes = (0..<24).map { UInt8($0 * 10) }
      let (open, limited) = (
        try #require(try Self.picture(name, 4, 2, strides: [stride], planes: [bytes])),
        try #require(
          try Self.picture(name, 4, 2, strides: [stride], planes: [bytes], isLimited: true))
      )
      for index in 0..<open.format.planeCount {
        #expect(
          Array(open.plane(index).row(0)) == Array(limited.plane(index).row(0)), "\(name)")
      }
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: DocumentedFormat.planes.map(\.name))
  func planar(name: String) throws {
    let format = try #require(DocumentedFormat.planes.first { $0.name == name })
    for (width, height) in Self.sizes {
      let (across, down) = (
        (width + format.across - 1) / format.across, (height + format.down - 1) / format.down
      )
      let colors = Self.pixels(width, height)
      // Pixels that share chroma have the same.
      let wanted = (0..<height).map { y in
        (0..<width).map { x in
          let shared = colors[y / format.down * format.down][x / format.across * format.across]
          return [colors[y][x][0], shared[1], shared[2]]
        }
      }
      let stride = (width + 1) / 2 * 2 + Self.padding
      func rows(_ stride: Int, _ count: Int, _ samples: (Int) -> [Int]) -> [UInt8] {
        (0..<count).flatMap { y in
          let row = samples(y).map { UInt8($0) }
          return row + Array(repeating: 0xA5, count: stride - row.count)
        }
      }
      let order = format.isSwapped ? [2, 1] : [1, 2]
      func chroma(_ sample: Int, _ x: Int, _ y: Int) -> Int {
        wanted[y * format.down][x * format.across][sample]
      }
      var planes = [rows(stride, height) { y in wanted[y].map { $0[0] } }]
      // With half the samples interleaved, rows are as long as luma's; with all of them twice as long.
      let chromaStride =
        format.isInterleaved ? stride * 2 / format.across : stride / format.across
      if format.isInterleaved {
        planes.append(
          rows(chromaStride, down) { y in
            (0..<across).flatMap { x in order.map { chroma($0, x, y) } }
          })
      } else {
        for sample in order {
          planes.append(
            rows(chromaStride, down) { y in (0..<across).map { chroma(sample, $0, y) } })
        }
      }
      let strides =
        format.isApart
        ? [stride] + Array(repeating: chromaStride, count: planes.count - 1) : [stride]
      let memory = format.isApart ? planes : [planes.flatMap { $0 }]
      let seen = try Self.picture(name, width, height, strides: strides, planes: memory)
      let samples = wanted.map { $0.map { $0.map(Double.init) } }
      // libyuv's means of rows and columns are rounded one after the other.
      try Self.expect(seen, samples, within: 1.1, name)
      var short = memory
      short[short.count - 1].removeLast(
        chromaStride - across * (format.isInterleaved ? 2 : 1) + 1)
      #expect(try Self.picture(name, width, height, strides: strides, planes: short) == nil)
      if format.isApart {
        #expect(
          try Self.picture(name, width, height, strides: strides, planes: [memory[0]]) == nil,
          "a plane is missing")
      }
    }
  }

  /// Black is 0 and white the most, as sensors have it.
  @Test(.timeLimit(.minutes(5)), arguments: DocumentedFormat.grays.map(\.name))
  func gray(name: String) throws {
    let format = try #require(DocumentedFormat.grays.first { $0.name == name })
    for (width, height) in Self.sizes {
      let values = Self.pixels(width, height).map { $0.map { $0[0] << 8 | $0[1] } }
      let wanted = values.map { row in
        row.map { value in
          [16 + 219 * Double(value >> (16 - format.bits)) / Double(1 << format.bits - 1), 128, 128]
        }
      }
      let bytes = values.flatMap { row in
        row.flatMap { Self.number($0 >> (16 - format.bits), format.bits, format.isBigEndian) }
          + Array(repeating: 0xA5, count: Self.padding)
      }
      let seen = try Self.picture(
        name, width, height, strides: [bytes.count / height], planes: [bytes])
      try Self.expect(seen, wanted, within: 1.2, name)
    }
  }

  private static func number(_ value: Int, _ bits: Int, _ isBigEndian: Bool = false) -> [UInt8] {
    if bits == 8 { return [UInt8(value)] }
    let bytes = [UInt8(value & 0xFF), UInt8(value >> 8)]
    return isBigEndian ? bytes.reversed() : bytes
  }

  /// A mosaic of a colour that changes evenly from left to right is that colour again; at the edges nearly.
  @Test(.timeLimit(.minutes(5)), arguments: DocumentedFormat.mosaics.flatMap(\.names))
  func mosaic(name: String) throws {
    let format = try #require(DocumentedFormat.mosaics.first { $0.names.contains(name) })
    let bits = [8, 10, 12, 16][try #require(format.names.firstIndex(of: name))]
    for (width, height) in [(16, 6), (15, 5), (2, 2)] {
      func color(_ x: Int) -> [Int] { width == 2 ? [200, 90, 30] : [40 + 8 * x, 200 - 6 * x, 60] }
      let wanted = (0..<height).map { _ in (0..<width).map { Self.yuv(color($0).map(Double.init)) }
      }
      let bytes = (0..<height).flatMap { y in
        (0..<width).flatMap { x in
          let letter = Array(format.rows[y % 2])[x % 2]
          let sample = color(x)[letter == "r" ? 0 : letter == "g" ? 1 : 2]
          return Self.number(sample << (bits - 8), bits)
        } + Array(repeating: UInt8(0xA5), count: Self.padding)
      }
      let seen = try Self.picture(
        name, width, height, strides: [bytes.count / height], planes: [bytes])
      try Self.expect(seen, wanted, within: 6, name)
    }
    // One pixel has neighbours nowhere.
    let one = try Self.picture(
      name, 1, 1, strides: [2], planes: [Self.number(128 << (bits - 8), bits)])
    #expect(one?.plane(0).row(0)[0] == 126, "128 of each colour")
  }

  /// The six corners of the colour circle, a grey, and a hue between.
  @Test(.timeLimit(.minutes(5)), arguments: [("HSV3", 180), ("HSV4", 180), ("HSV3", 256)])
  func hue(name: String, steps: Int) throws {
    let colors: [(degrees: Int, saturation: Int, value: Int, rgb: [Double])] = [
      (0, 255, 255, [255, 0, 0]), (60, 255, 200, [200, 200, 0]), (120, 255, 255, [0, 255, 0]),
      (180, 255, 100, [0, 100, 100]), (240, 255, 255, [0, 0, 255]), (300, 255, 255, [255, 0, 255]),
      (90, 255, 255, [127.5, 255, 0]), (0, 0, 77, [77, 77, 77]), (0, 128, 255, [255, 127, 127]),
      (210, 128, 240, [119.5, 179.8, 240]),
    ]
    for color in colors {
      let hue = UInt8((Double(color.degrees) * Double(steps) / 360).rounded())
      let pixel =
        (name == "HSV4" ? [0xA5] : []) + [hue, UInt8(color.saturation), UInt8(color.value)]
      let bytes = Array(repeating: pixel, count: 6).flatMap { $0 }
      let seen = try Self.picture(
        name, 3, 2, strides: [pixel.count * 3], planes: [bytes], hueSteps: steps)
      let wanted = Array(repeating: Array(repeating: Self.yuv(color.rgb), count: 3), count: 2)
      // A step of 256 is 1.4 degrees.
      try Self.expect(seen, wanted, within: steps == 180 ? 2 : 3, "\(name) \(color)")
    }
    // Steps beyond the circle are taken, too.
    #expect(try Self.picture("HSV3", 1, 1, strides: [3], planes: [[255, 255, 255]]) != nil)
  }

  /// What can't be converted is refused before anything starts.
  @Test(arguments: ["P010", "pBAA", "Y10B", "TM12", "S920"])
  func othersAreRefused(name: String) throws {
    let format = try #require(CameraPixelFormat(name))
    #expect(!format.isSupported)
    #expect(
      throws: CameraError.formatRefused(
        wanted: "pictures of \(name)", given: "nothing known here")
    ) {
      try CameraCapture(
        CameraDevice(path: "/dev/video7", name: "Stand-in", bus: "none", driver: "none"),
        driver: StandInDriver(
          PictureLayout(pixelFormat: format, width: 4, height: 4, strides: [8]), bytes: 64),
        format: CameraFormat(pixelFormat: format, width: 4, height: 4), framesPerSecond: nil,
        deliver: { _ in }, notify: { _ in })
    }
  }

  /// Where a size comes in several formats, what is best and costs least is taken.
  @Test func fullColourComesFirst() throws {
    let names = ["GB12", "GREY", "RGB1", "MJPG", "RGBP", "YUYV", "NV12"]
    let formats = try names.map {
      CameraFormat(pixelFormat: try #require(CameraPixelFormat($0)), width: 8, height: 8)
    }
    #expect("\(formats.nearest(width: 8, height: 8)!.pixelFormat)" == "NV12")
    #expect("\(formats.dropLast().map { $0 }.nearest(width: 8, height: 8)!.pixelFormat)" == "YUYV")
    #expect("\(formats.prefix(5).map { $0 }.nearest(width: 8, height: 8)!.pixelFormat)" == "MJPG")
    #expect("\(formats.prefix(2).map { $0 }.nearest(width: 8, height: 8)!.pixelFormat)" == "GREY")
  }
}
