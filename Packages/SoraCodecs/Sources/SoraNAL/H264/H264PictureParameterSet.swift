public import SoraWire

/// What an H.264 picture parameter set says of the pictures that refer to it (H.264 §7.3.2.2).
public struct H264PictureParameterSet: Sendable, Hashable {
  /// 0...255.
  public let id: Int
  /// The sequence parameter set that it refers to, 0...31.
  public let sequenceID: Int
  /// Whether slices are coded with CABAC; with CAVLC otherwise.
  public let usesArithmeticCoding: Bool
  /// 1...8; more than one in the Baseline and Extended profiles only (flexible macroblock ordering).
  public let sliceGroups: Int
  public let usesWeightedPrediction: Bool
  /// Whether the 8x8 transform may be used (High profiles).
  public let usesLargeTransform: Bool

  /// Reads a whole NAL unit of type 8, its header first. Throws `NALError`.
  public init(_ unit: RawSpan) throws(NALError) {
    guard unit.byteCount >= 2 else { throw .truncated }
    guard H264NALUnitType(unit.u8(0)) == .pictureParameterSet else {
      throw .outOfRange(element: "nal_unit_type", value: UInt32(unit.u8(0) & 0x1F))
    }
    var reader = RBSPReader(unit.part(from: 1))
    id = Int(try reader.readUnsigned("pic_parameter_set_id", upTo: 255))
    sequenceID = Int(try reader.readUnsigned("seq_parameter_set_id", upTo: 31))
    usesArithmeticCoding = try reader.readFlag()
    // bottom_field_pic_order_in_frame_present_flag
    try reader.skipBits(1)
    sliceGroups = 1 + Int(try reader.readUnsigned("num_slice_groups_minus1", upTo: 7))
    if sliceGroups > 1 { try Self.skipSliceGroups(&reader, sliceGroups) }
    _ = try reader.readUnsigned("num_ref_idx_l0_default_active_minus1", upTo: 31)
    _ = try reader.readUnsigned("num_ref_idx_l1_default_active_minus1", upTo: 31)
    usesWeightedPrediction = try reader.readFlag()
    guard try reader.readBits(2) <= 2 else {
      throw .outOfRange(element: "weighted_bipred_idc", value: 3)
    }
    // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
    for _ in 0..<3 { _ = try reader.readSigned() }
    // Deblocking control, constrained intra prediction, redundant pictures.
    try reader.skipBits(3)
    usesLargeTransform = reader.hasMoreData ? try reader.readFlag() : false
  }

  private static func skipSliceGroups(_ reader: inout RBSPReader, _ count: Int) throws(NALError) {
    switch try reader.readUnsigned("slice_group_map_type", upTo: 6) {
    case 0: for _ in 0..<count { _ = try reader.readUnsigned() }
    case 2:
      for _ in 1..<count {
        _ = try reader.readUnsigned()
        _ = try reader.readUnsigned()
      }
    case 3, 4, 5:
      try reader.skipBits(1)
      _ = try reader.readUnsigned()
    case 6:
      let units = try reader.readUnsigned("pic_size_in_map_units_minus1", upTo: 139_263)
      try reader.skipBits((Int(units) + 1) * (count > 4 ? 3 : count > 2 ? 2 : 1))
    default: break
    }
  }
}
