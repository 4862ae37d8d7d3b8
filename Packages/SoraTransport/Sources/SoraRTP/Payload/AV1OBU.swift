import SoraWire

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

  /// Width and height of the largest picture, from the payload of a sequence header (§5.5.1); nil where it is damaged.
  static func size(sequenceHeader bytes: RawSpan) -> (width: Int, height: Int)? {
    var bits = BitReader(bytes)
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

extension BitReader {
  /// Skips a value of AV1's uvlc().
  @_lifetime(self: copy self)
  fileprivate mutating func skipExponentialGolomb() {
    var zeros = 0
    while zeros < 32, !isExhausted, read(1) == 0 { zeros += 1 }
    if zeros < 32 { _ = read(zeros) }
  }
}
