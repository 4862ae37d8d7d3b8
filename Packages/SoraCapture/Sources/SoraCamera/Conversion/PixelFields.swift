import SoraMedia

/// Pixels that are numbers of 1, 2 or 4 bytes, in which each sample has some bits.
struct PixelFields: Sendable {
  /// Where a sample's bits are, and what makes 8 bits of them.
  struct Field: Sendable {
    var shift: UInt32 = 0
    var mask: UInt32 = 0
    /// In 1/65536.
    var scale: UInt32 = 0

    @inline(__always)
    func value(in number: UInt32) -> Int32 {
      Int32(truncatingIfNeeded: ((number &>> shift) & mask &* scale &+ 32768) &>> 16)
    }
  }

  /// Red, green and blue, or Y, U and V.
  private var fields: (Field, Field, Field) = (Field(), Field(), Field())
  let isYCbCr: Bool
  /// Bytes of a pixel.
  let bytes: Int
  let isBigEndian: Bool
  /// Bits of the sample that has fewest.
  let leastBits: Int

  /// - Parameter layout: a letter for each bit, from the highest: r, g, b, or y, u, v; others don't count.
  init(_ layout: StaticString, isBigEndian: Bool) {
    let bits = Array("\(layout)".utf8)
    isYCbCr = bits.contains(UInt8(ascii: "y"))
    bytes = bits.count / 8
    self.isBigEndian = isBigEndian
    let letters = Array((isYCbCr ? "yuv" : "rgb").utf8)
    let counts = letters.map { letter in bits.count { $0 == letter } }
    leastBits = counts.min() ?? 0
    let isYCbCr = isYCbCr
    func field(_ index: Int) -> Field {
      guard counts[index] > 0, let last = bits.lastIndex(of: letters[index]) else { return Field() }
      let most = UInt32(1) << UInt32(counts[index]) - 1
      // A colour's most becomes 255. Chroma's middle must stay the middle, so that greys stay grey: those samples are shifted.
      let scale: UInt32 =
        isYCbCr ? 65536 << UInt32(8 - counts[index]) : (255 * 65536 + most / 2) / most
      return Field(shift: UInt32(bits.count - 1 - last), mask: most, scale: scale)
    }
    fields = (field(0), field(1), field(2))
  }

  func convert(_ raster: borrowing Raster, into target: PixelBufferPool.Writable) {
    // A specialized loop for each kind of number.
    switch (bytes, isBigEndian) {
    case (1, _): Reader<Byte>(self).convert(raster, into: target)
    case (2, false): Reader<LittleEndian16>(self).convert(raster, into: target)
    case (2, true): Reader<BigEndian16>(self).convert(raster, into: target)
    default: Reader<BigEndian32>(self).convert(raster, into: target)
    }
  }

  private struct Reader<Number: PixelNumber>: PixelReader {
    let fields: (Field, Field, Field)
    let isYCbCr: Bool

    init(_ format: PixelFields) {
      fields = format.fields
      isYCbCr = format.isYCbCr
    }

    @inline(__always)
    func pixel(_ x: Int, _ y: Int, of raster: borrowing Raster) -> Pixel {
      let number = Number.load(raster.bytes, y &* raster.stride, x)
      return Pixel(
        first: fields.0.value(in: number), second: fields.1.value(in: number),
        third: fields.2.value(in: number))
    }
  }
}

/// How a pixel's number lies in memory.
private protocol PixelNumber {
  /// The number of pixel `x` in the row that begins at byte `row`.
  static func load(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> UInt32
}

private enum Byte: PixelNumber {
  @inline(__always)
  static func load(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> UInt32 { UInt32(bytes[row &+ x]) }
}

private enum LittleEndian16: PixelNumber {
  @inline(__always)
  static func load(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> UInt32 {
    let at = row &+ x &* 2
    return UInt32(bytes[at]) | UInt32(bytes[at &+ 1]) &<< 8
  }
}

private enum BigEndian16: PixelNumber {
  @inline(__always)
  static func load(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> UInt32 {
    let at = row &+ x &* 2
    return UInt32(bytes[at]) &<< 8 | UInt32(bytes[at &+ 1])
  }
}

private enum BigEndian32: PixelNumber {
  @inline(__always)
  static func load(_ bytes: Span<UInt8>, _ row: Int, _ x: Int) -> UInt32 {
    let at = row &+ x &* 4
    return UInt32(bytes[at]) &<< 24 | UInt32(bytes[at &+ 1]) &<< 16 | UInt32(bytes[at &+ 2]) &<< 8
      | UInt32(bytes[at &+ 3])
  }
}
