/// How the samples of a pixel format lie, by what has to be done to read them.
enum PixelArrangement: Sendable {
  /// Planes as a `PixelBuffer` has them: read from where they are. In one piece of memory, or each in its own.
  case i420, yv12, nv12
  /// Planes that must be rearranged or reduced to 4:2:0. Where chroma is swapped, V comes before U.
  case nv21
  case i422(swapsChroma: Bool)
  case i444(swapsChroma: Bool)
  case nv16(swapsChroma: Bool)
  case nv24(swapsChroma: Bool)
  /// Side by side in an order that libyuv reads.
  case packed(PackedPixels)
  /// V, U, Y and a byte that doesn't count, for a pixel.
  case vuya
  /// A number for a pixel, in which each sample has some bits.
  case fields(PixelFields)
  case hsv(HSVPixels)
  case gray(SampleDepth)
  case bayer(BayerPixels)
  case jpeg

  /// The formats that pictures can be made of, by the characters that V4L2 gives them (Linux Media Infrastructure userspace API, part I,
  /// "Image Formats"), "-BE" behind those of big-endian numbers. Those of video codecs aren't among them.
  static let known: [String: PixelArrangement] = {
    var known: [String: PixelArrangement] = [:]
    for (names, arrangement) in planar + packed + numbers + mosaics {
      for name in names { known[name] = arrangement }
    }
    return known
  }()

  private typealias Entry = (names: [String], arrangement: PixelArrangement)

  private static let planar: [Entry] = [
    (["YU12", "YM12"], .i420), (["YV12", "YM21"], .yv12), (["NV12", "NM12"], .nv12),
    (["NV21", "NM21"], .nv21),
    (["422P", "YM16"], .i422(swapsChroma: false)), (["YM61"], .i422(swapsChroma: true)),
    (["YM24"], .i444(swapsChroma: false)), (["YM42"], .i444(swapsChroma: true)),
    (["NV16", "NM16"], .nv16(swapsChroma: false)), (["NV61", "NM61"], .nv16(swapsChroma: true)),
    (["NV24"], .nv24(swapsChroma: false)), (["NV42"], .nv24(swapsChroma: true)),
  ]

  private static let packed: [Entry] = [
    (["YUYV"], .packed(.yuy2(swapsChroma: false))), (["YVYU"], .packed(.yuy2(swapsChroma: true))),
    (["UYVY"], .packed(.uyvy(swapsChroma: false))), (["VYUY"], .packed(.uyvy(swapsChroma: true))),
    (["RGBP"], .packed(.rgb565)), (["RGBO", "XR15", "AR15"], .packed(.argb1555)),
    (["R444", "XR12", "AR12"], .packed(.argb4444)),
    (["BGR3"], .packed(.rgb24)), (["RGB3"], .packed(.raw)),
    (["AR24", "XR24", "BGR4"], .packed(.argb)), (["BA24", "BX24", "RGB4"], .packed(.bgra)),
    (["AB24", "XB24"], .packed(.abgr)), (["RA24", "RX24"], .packed(.rgba)),
    (["VUYA", "VUYX"], .vuya),
    (["HSV3"], .hsv(HSVPixels(bytes: 3, hue: 0))), (["HSV4"], .hsv(HSVPixels(bytes: 4, hue: 1))),
    (["MJPG", "JPEG"], .jpeg),
  ]

  /// The bits of a number from the highest; x and a don't count.
  private static let numbers: [Entry] = {
    let little: [(names: [String], bits: StaticString)] = [
      (["RGB1"], "rrrgggbb"),
      (["RX12", "RA12"], "rrrrggggbbbbxxxx"), (["XB12", "AB12"], "xxxxbbbbggggrrrr"),
      (["BX12", "GA12"], "bbbbggggrrrrxxxx"), (["RX15", "RA15"], "rrrrrgggggbbbbbx"),
      (["XB15", "AB15"], "xbbbbbgggggrrrrr"), (["BX15", "BA15"], "bbbbbgggggrrrrrx"),
      (["Y444"], "xxxxyyyyuuuuvvvv"), (["YUVO"], "xyyyyyuuuuuvvvvv"),
      (["YUVP"], "yyyyyuuuuuuvvvvv"),
    ]
    let big: [(names: [String], bits: StaticString)] = [
      (["RGBR"], "rrrrrggggggbbbbb"),
      (["RGBQ", "XR15-BE", "AR15-BE"], "xrrrrrgggggbbbbb"),
      (["BGRH"], "bbbbbbggggggrrrrrrxxxxxxxxxxxxxx"),
      (["YUV4", "AYUV", "XYUV"], "xxxxxxxxyyyyyyyyuuuuuuuuvvvvvvvv"),
      (["YUVA", "YUVX"], "yyyyyyyyuuuuuuuuvvvvvvvvxxxxxxxx"),
    ]
    return little.map { ($0.names, .fields(PixelFields($0.bits, isBigEndian: false))) }
      + big.map { ($0.names, .fields(PixelFields($0.bits, isBigEndian: true))) }
  }()

  private static let mosaics: [Entry] = {
    var entries: [Entry] = [
      (["GREY"], .gray(SampleDepth(bits: 8))), (["Y10 "], .gray(SampleDepth(bits: 10))),
      (["Y12 "], .gray(SampleDepth(bits: 12))), (["Y16 "], .gray(SampleDepth(bits: 16))),
      (["Y16 -BE"], .gray(SampleDepth(bits: 16, isBigEndian: true))),
    ]
    // Where the red pixel of the first four is; names of 8, 10, 12 and 16 bits.
    let patterns: [(x: Int, y: Int, names: [String])] = [
      (1, 1, ["BA81", "BG10", "BG12", "BYR2"]), (0, 1, ["GBRG", "GB10", "GB12", "GB16"]),
      (1, 0, ["GRBG", "BA10", "BA12", "GR16"]), (0, 0, ["RGGB", "RG10", "RG12", "RG16"]),
    ]
    for pattern in patterns {
      for (name, bits) in zip(pattern.names, [8, 10, 12, 16]) {
        let pixels = BayerPixels(
          redX: pattern.x, redY: pattern.y, depth: SampleDepth(bits: bits))
        entries.append(([name], .bayer(pixels)))
      }
    }
    return entries
  }()
}

/// Samples side by side, by libyuv's names: it names the bytes of a word from the highest, V4L2 in memory's order.
enum PackedPixels: Sendable {
  /// 4:2:2, four bytes for two pixels. Where chroma is swapped, V comes before U.
  case yuy2(swapsChroma: Bool)
  case uyvy(swapsChroma: Bool)
  case rgb565, argb1555, argb4444
  case rgb24, raw
  case argb, bgra, abgr, rgba

  var isYCbCr: Bool {
    switch self {
    case .yuy2, .uyvy: true
    default: false
    }
  }

  var swapsChroma: Bool {
    switch self {
    case .yuy2(let swapsChroma), .uyvy(let swapsChroma): swapsChroma
    default: false
    }
  }

  /// Whether each sample has 8 bits.
  var isWhole: Bool {
    switch self {
    case .rgb565, .argb1555, .argb4444: false
    default: true
    }
  }

  /// Bytes of a row that are samples.
  func row(_ width: Int) -> Int {
    switch self {
    case .yuy2, .uyvy: (width + 1) / 2 * 4
    case .rgb565, .argb1555, .argb4444: width * 2
    case .rgb24, .raw: width * 3
    case .argb, .bgra, .abgr, .rgba: width * 4
    }
  }
}
