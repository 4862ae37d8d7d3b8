public import SoraWire

/// The start of a video parameter set (H.265 §7.3.2.1).
public struct H265VideoParameterSet: Sendable, Hashable {
  /// 0...15.
  public var id: UInt8
  /// Temporal layers that the stream may have, 1...7.
  public var maximumSubLayers: Int
  public var profileTierLevel: H265ProfileTierLevel

  /// Reads a NAL unit, its header first.
  public init(_ unit: RawSpan) throws(NALError) {
    guard unit.byteCount > 2 else { throw .truncated }
    var reader = RBSPReader(unit.part(from: 2))
    id = UInt8(try reader.readBits(4))
    // The base layer's two flags, vps_max_layers_minus1.
    try reader.skipBits(8)
    let subLayersMinus1 = try reader.readBits(3)
    guard subLayersMinus1 <= 6 else {
      throw .outOfRange(element: "vps_max_sub_layers_minus1", value: subLayersMinus1)
    }
    maximumSubLayers = Int(subLayersMinus1) + 1
    // vps_temporal_id_nesting_flag, vps_reserved_0xffff_16bits.
    try reader.skipBits(17)
    profileTierLevel = try H265ProfileTierLevel(
      &reader, maximumSubLayersMinus1: Int(subLayersMinus1))
  }
}

/// The start of a picture parameter set (H.265 §7.3.2.3): what a slice header needs to be read.
public struct H265PictureParameterSet: Sendable, Hashable {
  /// 0...63.
  public var id: Int
  /// The sequence parameter set that it belongs to, 0...15.
  public var sequenceID: Int
  /// `output_flag_present_flag`: slice headers say whether their picture is shown.
  public var hasOutputFlag: Bool
  /// `num_extra_slice_header_bits`, 0...7.
  public var extraSliceHeaderBits: Int

  /// Reads a NAL unit, its header first.
  public init(_ unit: RawSpan) throws(NALError) {
    guard unit.byteCount > 2 else { throw .truncated }
    var reader = RBSPReader(unit.part(from: 2))
    id = Int(try reader.readUnsigned("pps_pic_parameter_set_id", upTo: 63))
    sequenceID = Int(try reader.readUnsigned("pps_seq_parameter_set_id", upTo: 15))
    // dependent_slice_segments_enabled_flag.
    try reader.skipBits(1)
    hasOutputFlag = try reader.readFlag()
    extraSliceHeaderBits = Int(try reader.readBits(3))
  }
}
