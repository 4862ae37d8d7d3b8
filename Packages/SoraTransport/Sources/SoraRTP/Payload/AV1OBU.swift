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
}
