import SoraWire

/// The header of a picture's first slice up to its references (H.265 §7.3.6.1).
struct H265SliceHeader {
  /// A picture that stays for longer than distances can say.
  struct LongTerm {
    /// The picture order count, or its low bits where `hasHighBits` is false.
    var order = 0
    var hasHighBits = false
    var isUsed = false
  }

  let type: H265NALUnitType
  let temporalID: UInt8
  let pictureID: Int
  /// Low bits of the picture order count; 0 for IDR pictures.
  let orderLowBits: Int
  let references: H265ReferencePictureSet
  /// Distances between the picture's own high bits and those of each long-term reference that has them, in periods.
  private(set) var longTerm = InlineArray<16, LongTerm>(repeating: LongTerm())
  private(set) var longTermCount = 0

  /// Whether a slice is its picture's first: `first_slice_segment_in_pic_flag`.
  static func isFirst(_ unit: RawSpan) -> Bool {
    unit.byteCount > 2 && unit.u8(2) & 0x80 != 0
  }

  /// `slice_pic_parameter_set_id`, which every slice has.
  static func pictureID(_ unit: RawSpan, _ header: H265NALUnitHeader)
    throws(NALError) -> UInt32
  {
    guard unit.byteCount > 2 else { throw .truncated }
    var reader = RBSPReader(unit.part(from: 2))
    try reader.skipBits(header.type.isRandomAccess ? 2 : 1)
    return try reader.readUnsigned("slice_pic_parameter_set_id", upTo: 63)
  }

  /// Reads the first slice of a picture; nil where the parameter sets that it names aren't known.
  init?(_ unit: RawSpan, _ header: H265NALUnitHeader, _ sets: H265ParameterSets)
    throws(NALError)
  {
    guard unit.byteCount > 2 else { throw .truncated }
    type = header.type
    temporalID = header.temporalID
    var reader = RBSPReader(unit.part(from: 2))
    // first_slice_segment_in_pic_flag, and no_output_of_prior_pics_flag where decoding can start.
    try reader.skipBits(type.isRandomAccess ? 2 : 1)
    pictureID = Int(try reader.readUnsigned("slice_pic_parameter_set_id", upTo: 63))
    guard let picture = sets.picture(pictureID), let sequence = sets.sequence(picture.sequenceID)
    else { return nil }
    try reader.skipBits(picture.extraSliceHeaderBits)
    _ = try reader.readUnsigned("slice_type", upTo: 2)
    if picture.hasOutputFlag { try reader.skipBits(1) }
    if sequence.separatesColourPlanes { try reader.skipBits(2) }
    guard !type.isIDR else {
      orderLowBits = 0
      references = H265ReferencePictureSet()
      return
    }
    orderLowBits = Int(try reader.readBits(sequence.pictureOrderCountBits))
    let count = sequence.referencePictureSets.count
    // short_term_ref_pic_set_sps_flag.
    if try reader.readFlag() {
      let index = Int(try reader.readBits(Self.bits(count)))
      guard index < count else {
        throw .outOfRange(element: "short_term_ref_pic_set_idx", value: UInt32(index))
      }
      references = sequence.referencePictureSets[index]
    } else {
      references = try H265ReferencePictureSet(
        &reader, index: count, known: sequence.referencePictureSets, isInSliceHeader: true)
    }
    if sequence.hasLongTermReferences { try readLongTerm(&reader, sequence) }
  }

  private mutating func readLongTerm(
    _ reader: inout RBSPReader, _ sequence: H265SequenceParameterSet
  ) throws(NALError) {
    let known = sequence.longTermReferences.count
    let named = known > 0 ? Int(try reader.readUnsigned("num_long_term_sps", upTo: 16)) : 0
    let count = named + Int(try reader.readUnsigned("num_long_term_pics", upTo: 16))
    guard count <= longTerm.count else {
      throw .outOfRange(element: "num_long_term_pics", value: UInt32(count - named))
    }
    var cycles = 0
    for index in 0..<count {
      var entry = LongTerm()
      if index < named {
        let number = Int(try reader.readBits(Self.bits(known)))
        guard number < known else {
          throw .outOfRange(element: "lt_idx_sps", value: UInt32(number))
        }
        entry.order = sequence.longTermReferences[number].lowBits
        entry.isUsed = sequence.longTermReferences[number].isUsed
      } else {
        entry.order = Int(try reader.readBits(sequence.pictureOrderCountBits))
        entry.isUsed = try reader.readFlag()
      }
      // Equation 7-52: each entry's distance adds to the one before, from the start of each list.
      if index == 0 || index == named { cycles = 0 }
      entry.hasHighBits = try reader.readFlag()
      if entry.hasHighBits {
        cycles += Int(try reader.readUnsigned("delta_poc_msb_cycle_lt", upTo: 1 << 28))
        entry.order -= cycles << sequence.pictureOrderCountBits
      }
      longTerm[index] = entry
    }
    longTermCount = count
  }

  /// Bits that a number below `count` takes.
  private static func bits(_ count: Int) -> Int {
    count > 1 ? Int.bitWidth - (count - 1).leadingZeroBitCount : 0
  }
}

/// The parameter sets that a stream has sent, by their numbers.
struct H265ParameterSets {
  private var sequences: [H265SequenceParameterSet?] = Array(repeating: nil, count: 16)
  private var pictures: [H265PictureParameterSet?] = Array(repeating: nil, count: 64)

  func sequence(_ id: Int) -> H265SequenceParameterSet? { sequences[id] }
  func picture(_ id: Int) -> H265PictureParameterSet? { pictures[id] }

  mutating func add(_ set: H265SequenceParameterSet) { sequences[set.id] = set }
  mutating func add(_ set: H265PictureParameterSet) { pictures[set.id] = set }

  mutating func removeAll() {
    for index in sequences.indices { sequences[index] = nil }
    for index in pictures.indices { pictures[index] = nil }
  }
}
