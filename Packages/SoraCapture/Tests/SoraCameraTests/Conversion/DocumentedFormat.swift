/// A pixel format as the tables of V4L2's documentation have it ("RGB Formats", "Packed YUV Formats", "Semi Planar YUV Formats", "Luma-Only
/// Formats", "Raw Bayer Formats", "HSV Formats"): what stands in which bit of memory.
enum DocumentedFormat {
  /// The bits of each byte of a pixel, in memory's order, from bit 7 to bit 0; of a sample's bits that lie in two bytes the byte with the
  /// higher ones is the last (little-endian) or the first.
  static let packed: [(names: String, bytes: String, isBigEndian: Bool)] = [
    ("RGB1", "rrrgggbb", true),
    ("R444 XR12 AR12", "ggggbbbb xxxxrrrr", false), ("RX12 RA12", "bbbbxxxx rrrrgggg", false),
    ("XB12 AB12", "ggggrrrr xxxxbbbb", false), ("BX12 GA12", "rrrrxxxx bbbbgggg", false),
    ("RGBO XR15 AR15", "gggbbbbb xrrrrrgg", false), ("RX15 RA15", "ggbbbbbx rrrrrggg", false),
    ("XB15 AB15", "gggrrrrr xbbbbbgg", false), ("BX15 BA15", "ggrrrrrx bbbbbggg", false),
    ("RGBP", "gggbbbbb rrrrrggg", false), ("RGBR", "rrrrrggg gggbbbbb", true),
    ("RGBQ XR15-BE AR15-BE", "xrrrrrgg gggbbbbb", true),
    ("BGRH", "bbbbbbgg ggggrrrr rrxxxxxx xxxxxxxx", true),
    ("BGR3", "bbbbbbbb gggggggg rrrrrrrr", true), ("RGB3", "rrrrrrrr gggggggg bbbbbbbb", true),
    ("BGR4 XR24 AR24", "bbbbbbbb gggggggg rrrrrrrr xxxxxxxx", true),
    ("RX24 RA24", "xxxxxxxx bbbbbbbb gggggggg rrrrrrrr", true),
    ("RGB4 BX24 BA24", "xxxxxxxx rrrrrrrr gggggggg bbbbbbbb", true),
    ("XB24 AB24", "rrrrrrrr gggggggg bbbbbbbb xxxxxxxx", true),
    ("Y444", "uuuuvvvv xxxxyyyy", false), ("YUVO", "uuuvvvvv xyyyyyuu", false),
    ("YUVP", "uuuvvvvv yyyyyuuu", false),
    ("YUV4 AYUV XYUV", "xxxxxxxx yyyyyyyy uuuuuuuu vvvvvvvv", true),
    ("VUYA VUYX", "vvvvvvvv uuuuuuuu yyyyyyyy xxxxxxxx", true),
    ("YUVA YUVX", "yyyyyyyy uuuuuuuu vvvvvvvv xxxxxxxx", true),
  ]

  /// The bytes of a pixel, and what its samples of 8 bits have become, with fewer bits each.
  static func pack(
    _ pixel: [Int], _ bytes: String, isBigEndian: Bool
  ) -> (bytes: [UInt8], kept: [(value: Int, bits: Int)]) {
    let parts = bytes.split(separator: " ").map(Array.init)
    let letters = Array(bytes.contains("y") ? "yuv" : "rgb")
    let bits = letters.map { letter in bytes.count { $0 == letter } }
    let kept = zip(pixel, bits).map { (value: $0 >> (8 - $1), bits: $1) }
    var left = bits
    var packed = parts.map { _ in UInt8(0) }
    for part in isBigEndian ? Array(parts.indices) : parts.indices.reversed() {
      for (position, letter) in parts[part].enumerated() {
        // What doesn't count may hold anything.
        var bit = 1
        if let sample = letters.firstIndex(of: letter) {
          left[sample] -= 1
          bit = kept[sample].value >> left[sample] & 1
        }
        packed[part] |= UInt8(bit << (7 - position))
      }
    }
    return (packed, kept)
  }

  /// Planes: chroma at a part of the width and height, interleaved or not, V before U or not; each in its own memory or not.
  static let planes:
    [(
      name: String, across: Int, down: Int, isInterleaved: Bool, isSwapped: Bool, isApart: Bool
    )] = [
      ("NV16", 2, 1, true, false, false), ("NV61", 2, 1, true, true, false),
      ("NV24", 1, 1, true, false, false), ("NV42", 1, 1, true, true, false),
      ("NM16", 2, 1, true, false, true), ("NM61", 2, 1, true, true, true),
      ("NV12", 2, 2, true, false, false), ("NV21", 2, 2, true, true, false),
      ("NM12", 2, 2, true, false, true), ("NM21", 2, 2, true, true, true),
      ("YU12", 2, 2, false, false, false), ("YV12", 2, 2, false, true, false),
      ("YM12", 2, 2, false, false, true), ("YM21", 2, 2, false, true, true),
      ("422P", 2, 1, false, false, false), ("YM16", 2, 1, false, false, true),
      ("YM61", 2, 1, false, true, true), ("YM24", 1, 1, false, false, true),
      ("YM42", 1, 1, false, true, true),
    ]

  /// Bits, and whether the byte with the higher ones is the first.
  static let grays: [(name: String, bits: Int, isBigEndian: Bool)] = [
    ("GREY", 8, false), ("Y10 ", 10, false), ("Y12 ", 12, false), ("Y16 ", 16, false),
    ("Y16 -BE", 16, true),
  ]

  /// The colours of the first row and of the second; names of 8, 10, 12 and 16 bits.
  static let mosaics: [(rows: [String], names: [String])] = [
    (["bg", "gr"], ["BA81", "BG10", "BG12", "BYR2"]),
    (["gb", "rg"], ["GBRG", "GB10", "GB12", "GB16"]),
    (["gr", "bg"], ["GRBG", "BA10", "BA12", "GR16"]),
    (["rg", "gb"], ["RGGB", "RG10", "RG12", "RG16"]),
  ]
}
