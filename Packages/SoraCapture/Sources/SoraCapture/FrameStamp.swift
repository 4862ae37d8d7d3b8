public import SoraMedia

/// The machine-readable mark in the top-left corner of every test picture.
///
/// Two rows of 40 square blocks, each block floor(width / 40) pixels wide; luma 235 is 1, 16 is 0, chroma is 128.
/// Row 0 holds the frame index (32 bits, most significant first) and its CRC-8; row 1 the wall clock in
/// milliseconds modulo 2^32, likewise. The checksum has the polynomial 0x07 and the initial value 0.
public struct FrameStamp: Hashable, Sendable {
  /// The number of the frame, counted from 0 by its sender.
  public var index: UInt32
  /// The sender's `CLOCK_REALTIME` in milliseconds, modulo 2^32.
  public var milliseconds: UInt32

  public init(index: UInt32, milliseconds: UInt32) {
    self.index = index
    self.milliseconds = milliseconds
  }

  /// Blocks in a row: 32 bits of value and 8 of checksum.
  public static let blocksPerRow = 40
  /// Rows of blocks.
  public static let rows = 2

  /// The edge of a block in pixels for a picture of this width; 0 where the picture is too narrow for a stamp.
  public static func blockEdge(width: Int) -> Int { width / blocksPerRow }

  /// Whole milliseconds that have passed on the wall clock since the frame was stamped, the 49-day wrap respected.
  public func age(atRealtimeMilliseconds now: Int64) -> Int {
    Int(Int32(bitPattern: UInt32(truncatingIfNeeded: now) &- milliseconds))
  }

  /// Draws the stamp into a picture of 8 bits under construction. Does nothing where it doesn't fit.
  func draw(into planes: [MutablePlane], format: PixelFormat) {
    let luma = planes[0]
    let edge = Self.blockEdge(width: luma.width)
    guard edge > 0, luma.height >= edge * Self.rows else { return }
    for (row, value) in [index, milliseconds].enumerated() {
      let code = UInt64(value) << 8 | UInt64(Self.checksum(value))
      for y in row * edge..<(row + 1) * edge {
        let line = unsafe luma.row(y)
        for block in 0..<Self.blocksPerRow {
          let bit = code >> UInt64(Self.blocksPerRow - 1 - block) & 1
          unsafe (line.baseAddress! + block * edge).initializeMemory(
            as: UInt8.self, repeating: bit == 1 ? 235 : 16, count: edge)
        }
      }
    }
    // Whole chroma samples: a block row of odd height still gets neutral chroma to its last line.
    let chromaBytes = (Self.blocksPerRow * edge + 1) / 2 * (format == .nv12 ? 2 : 1)
    for plane in planes.dropFirst() {
      for y in 0..<min(plane.height, (Self.rows * edge + 1) / 2) {
        unsafe plane.base.advanced(by: y * plane.stride).initializeMemory(
          as: UInt8.self, repeating: 128, count: min(chromaBytes, plane.width))
      }
    }
  }

  /// Reads the stamp of a picture; nil where there is none, or where it came out damaged.
  public init?(reading buffer: PixelBuffer) {
    let edge = Self.blockEdge(width: buffer.width)
    guard edge > 0, buffer.height >= edge * Self.rows else { return nil }
    var values: [UInt32] = []
    for row in 0..<Self.rows {
      var code: UInt64 = 0
      for block in 0..<Self.blocksPerRow {
        code = code << 1 | (Self.isSet(buffer, x: block * edge, y: row * edge, edge: edge) ? 1 : 0)
      }
      let value = UInt32(truncatingIfNeeded: code >> 8)
      guard Self.checksum(value) == UInt8(truncatingIfNeeded: code) else { return nil }
      values.append(value)
    }
    // A black picture reads as zeros whose checksum is right. A real stamp has a time.
    guard values != [0, 0] else { return nil }
    self.init(index: values[0], milliseconds: values[1])
  }

  /// Whether a block is bright, by the average of its middle: codecs smear the edges.
  private static func isSet(_ picture: PixelBuffer, x: Int, y: Int, edge: Int) -> Bool {
    let luma = picture.plane(0)
    let isDeep = picture.format.bitDepth > 8
    let margin = edge / 4
    var sum = 0
    var count = 0
    for line in y + margin..<y + max(margin + 1, edge - margin) {
      let row = unsafe luma.row(line)
      let deepRow = unsafe luma.row(line, of: UInt16.self)
      for column in x + margin..<x + max(margin + 1, edge - margin) {
        sum += unsafe isDeep ? Int(deepRow[column]) >> 2 : Int(row[column])
        count += 1
      }
    }
    return sum > 126 * count
  }

  /// CRC-8 with polynomial 0x07 over the four bytes, most significant first.
  static func checksum(_ value: UInt32) -> UInt8 {
    var crc: UInt8 = 0
    for shift in [24, 16, 8, 0] as [UInt32] {
      crc ^= UInt8(truncatingIfNeeded: value >> shift)
      for _ in 0..<8 { crc = crc & 0x80 != 0 ? crc << 1 ^ 0x07 : crc << 1 }
    }
    return crc
  }
}
