/// The aggregation header (AV1 RTP §4.4).
struct AV1AggregationHeader {
  /// Z: the first element goes on with an OBU of the packet before.
  var isContinuation = false
  /// Y: the last element goes on in the next packet.
  var continues = false
  /// W: elements, 1...3, the last of which has no length; 0 where all have.
  var elementCount: UInt8 = 0
  /// N: the first packet of a coded video sequence.
  var startsSequence = false

  var byte: UInt8 {
    (isContinuation ? 0x80 : 0) | (continues ? 0x40 : 0) | elementCount << 4
      | (startsSequence ? 0x08 : 0)
  }

  init() {}

  init(_ byte: UInt8) {
    isContinuation = byte & 0x80 != 0
    continues = byte & 0x40 != 0
    elementCount = byte >> 4 & 3
    startsSequence = byte & 0x08 != 0
  }
}
