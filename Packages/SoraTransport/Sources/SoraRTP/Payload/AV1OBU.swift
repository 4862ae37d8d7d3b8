/// The open bitstream units of AV1, as far as RTP has to know them (AV1 bitstream specification §5.3).
enum AV1OBU {
  static let sequenceHeader: UInt8 = 1
  static let temporalDelimiter: UInt8 = 2
  static let tileList: UInt8 = 8
  static let padding: UInt8 = 15
  static let sizeFlag: UInt8 = 0x02
  static let extensionFlag: UInt8 = 0x04

  static func type(_ header: UInt8) -> UInt8 { header >> 3 & 15 }

  /// Whether units of this type travel in RTP: the temporal delimiter and the tile list don't (AV1 RTP §5); padding is of
  /// no use.
  static func isSent(_ type: UInt8) -> Bool {
    type != temporalDelimiter && type != tileList && type != padding
  }

  /// Reads a leb128 value of at most 32 bits and moves `offset` behind it; nil where there is none.
  static func leb128(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Int? {
    var value: UInt64 = 0
    for index in 0..<8 {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      if byte & 0x80 == 0 { return value <= UInt64(UInt32.max) ? Int(value) : nil }
    }
    return nil
  }

  /// Bytes that `value` takes as leb128.
  static func leb128Count(_ value: Int) -> Int {
    var count = 1
    var rest = value >> 7
    while rest > 0 {
      count += 1
      rest >>= 7
    }
    return count
  }

  /// Width and height of the largest picture, from the payload of a sequence header (§5.5.1); nil where it is damaged.
  static func size(sequenceHeader bytes: UnsafeRawBufferPointer) -> (width: Int, height: Int)? {
    var bits = RTPBitReader(bytes)
    _ = bits.read(4)  // seq_profile, still_picture
    if bits.read(1) == 1 {  // reduced_still_picture_header
      _ = bits.read(5)
    } else {
      var hasModel = false
      var delayBits = 0
      if bits.read(1) == 1 {  // timing_info_present_flag
        _ = bits.read(32)
        _ = bits.read(32)
        if bits.read(1) == 1 { bits.skipExponentialGolomb() }
        hasModel = bits.read(1) == 1
        if hasModel {
          delayBits = Int(bits.read(5)) + 1
          _ = bits.read(32)
          _ = bits.read(10)
        }
      }
      let hasDisplayDelay = bits.read(1) == 1
      for _ in 0...bits.read(5) {  // operating points
        _ = bits.read(12)
        if bits.read(5) > 7 { _ = bits.read(1) }
        if hasModel, bits.read(1) == 1 {
          _ = bits.read(delayBits)
          _ = bits.read(delayBits)
          _ = bits.read(1)
        }
        if hasDisplayDelay, bits.read(1) == 1 { _ = bits.read(4) }
      }
    }
    let widthBits = Int(bits.read(4)) + 1
    let heightBits = Int(bits.read(4)) + 1
    let width = Int(bits.read(widthBits)) + 1
    let height = Int(bits.read(heightBits)) + 1
    return bits.isExhausted ? nil : (width, height)
  }
}

/// Reads bits, most significant first. Beyond the end it reads zeros and says so.
struct RTPBitReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0
  private(set) var isExhausted = false

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Bits that are left.
  var remaining: Int { max(0, bytes.count * 8 - position) }

  /// The next `count` bits, 0 to 32.
  mutating func read(_ count: Int) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      var bit: UInt32 = 0
      if position >> 3 < bytes.count {
        bit = UInt32(bytes[position >> 3] >> (7 - UInt8(position & 7))) & 1
      } else {
        isExhausted = true
      }
      value = value << 1 | bit
      position &+= 1
    }
    return value
  }

  /// Skips a value of AV1's uvlc().
  mutating func skipExponentialGolomb() {
    var zeros = 0
    while zeros < 32, !isExhausted, read(1) == 0 { zeros += 1 }
    if zeros < 32 { _ = read(zeros) }
  }
}
