/// What an AV1 sequence header says of its pictures (AV1 bitstream specification §5.5.1).
public struct AV1SequenceHeader: Sendable, Hashable {
  /// Pixels of the largest picture.
  public let width: Int
  public let height: Int

  /// Reads the payload of a sequence header's unit; nil where it ends too early. Any bytes may be given.
  public init?(_ bytes: RawSpan) {
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
    width = Int(bits.read(widthBits)) + 1
    height = Int(bits.read(heightBits)) + 1
    if bits.isExhausted { return nil }
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
