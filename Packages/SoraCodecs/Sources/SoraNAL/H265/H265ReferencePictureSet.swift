import SoraWire

/// Which pictures stay in the decoder by a picture's word, as distances in output order (`st_ref_pic_set`, H.265 §7.3.7).
struct H265ReferencePictureSet: Sendable {
  /// Entries that a set can have: `sps_max_dec_pic_buffering_minus1` is 15 at most, and 16 leave room for one in the making.
  static let capacity = 16

  private(set) var count = 0
  /// The first of them lie before the picture.
  private(set) var negativeCount = 0
  private var deltas = InlineArray<16, Int32>(repeating: 0)
  private var used: UInt32 = 0

  init() {}

  /// How far entry `index` lies from the picture; never 0.
  func delta(_ index: Int) -> Int { Int(deltas[index]) }

  /// Whether the picture itself refers to entry `index`; otherwise it is kept for later ones.
  func isUsed(_ index: Int) -> Bool { used >> UInt32(index) & 1 == 1 }

  private mutating func append(_ delta: Int, isUsed: Bool) throws(NALError) {
    guard count < Self.capacity else {
      throw .outOfRange(element: "NumDeltaPocs", value: UInt32(count + 1))
    }
    // No stream comes to such distances, and what adds them up stays within 32 bits.
    guard delta.magnitude <= 1 << 16 else {
      throw .outOfRange(
        element: "DeltaPoc", value: UInt32(truncatingIfNeeded: delta.magnitude))
    }
    deltas[count] = Int32(delta)
    if isUsed { used |= 1 << UInt32(count) }
    count += 1
  }

  /// Reads set `index`, where those before it are `known`; in a slice header `index` is their count.
  init(
    _ reader: inout RBSPReader, index: Int, known: borrowing [H265ReferencePictureSet],
    isInSliceHeader: Bool = false
  ) throws(NALError) {
    if index > 0, try reader.readFlag() {
      var back = 1
      if isInSliceHeader {
        back += Int(try reader.readUnsigned("delta_idx_minus1", upTo: UInt32(index - 1)))
      }
      try predict(&reader, from: known[index - back])
    } else {
      let negative = try reader.readUnsigned("num_negative_pics", upTo: 16)
      let positive = try reader.readUnsigned("num_positive_pics", upTo: 16)
      try readDistances(&reader, count: negative, sign: -1)
      negativeCount = count
      try readDistances(&reader, count: positive, sign: 1)
    }
  }

  private mutating func readDistances(_ reader: inout RBSPReader, count: UInt32, sign: Int)
    throws(NALError)
  {
    var delta = 0
    for _ in 0..<count {
      delta += sign * (Int(try reader.readUnsigned("delta_poc_minus1", upTo: 0x7FFF)) + 1)
      try append(delta, isUsed: try reader.readFlag())
    }
  }

  /// Inter prediction of a set from another (equations 7-61 and 7-62).
  private mutating func predict(_ reader: inout RBSPReader, from source: H265ReferencePictureSet)
    throws(NALError)
  {
    let isNegative = try reader.readFlag()
    let magnitude = Int(try reader.readUnsigned("abs_delta_rps_minus1", upTo: 0x7FFF)) + 1
    let shift = isNegative ? -magnitude : magnitude
    var isUsed: UInt32 = 0
    var isKept: UInt32 = 0
    for index in 0...source.count {
      if try reader.readFlag() {
        isUsed |= 1 << UInt32(index)
        isKept |= 1 << UInt32(index)
      } else if try reader.readFlag() {
        isKept |= 1 << UInt32(index)
      }
    }
    // Entry `source.count` is the source's own picture, at distance 0 from it.
    func take(_ index: Int, _ sign: Int) throws(NALError) {
      let delta = (index < source.count ? source.delta(index) : 0) + shift
      guard delta.signum() == sign, isKept >> UInt32(index) & 1 == 1 else { return }
      try append(delta, isUsed: isUsed >> UInt32(index) & 1 == 1)
    }
    for index in (source.negativeCount..<source.count).reversed() { try take(index, -1) }
    try take(source.count, -1)
    for index in 0..<source.negativeCount { try take(index, -1) }
    negativeCount = count
    for index in (0..<source.negativeCount).reversed() { try take(index, 1) }
    try take(source.count, 1)
    for index in source.negativeCount..<source.count { try take(index, 1) }
  }
}
