public import SoraMedia
public import SoraWire

/// What an H.264 sequence parameter set says of the pictures that refer to it (H.264 §7.3.2.1.1).
public struct H264SequenceParameterSet: Sendable, Hashable {
  public let profileIDC: UInt8
  /// The constraint flags, `constraint_set0_flag` in the most significant bit.
  public let constraints: UInt8
  public let levelIDC: UInt8
  /// 0...31.
  public let id: Int
  /// 0 for monochrome, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
  public let chromaFormat: Int
  /// Bits a sample, 8...14.
  public let lumaBits: Int
  public let chromaBits: Int
  /// Bits of `frame_num` in slice headers, 4...16.
  public let frameNumberBits: Int
  /// `pic_order_cnt_type`, 0...2. With 2, pictures are shown in the order in which they come.
  public let pictureOrderType: Int
  /// `max_num_ref_frames`, 0...16.
  public let maximumReferenceFrames: Int
  public let allowsFrameNumberGaps: Bool
  /// Whether every picture is a whole frame. False where there may be fields (interlaced video).
  public let isProgressive: Bool
  /// Size of the coded pictures in samples, a multiple of 16.
  public let codedWidth: Int
  public let codedHeight: Int
  /// Samples cut off at each side.
  public let crop: Cropping
  /// `max_num_reorder_frames` and `max_dec_frame_buffering` of the VUI (H.264 §E.2.1); nil where it doesn't say.
  public let reordering: H264Reordering?
  /// Frames a second as the VUI's timing says; nil where it doesn't say.
  public let framesPerSecond: Double?
  /// What the VUI says of colours (H.264 §E.2.1); nil where it doesn't say.
  public let colorSpace: VideoColorSpace?

  /// Samples that aren't to be shown.
  public struct Cropping: Sendable, Hashable {
    public var left = 0
    public var right = 0
    public var top = 0
    public var bottom = 0
  }

  /// Size to be shown, in samples.
  public var width: Int { codedWidth - crop.left - crop.right }
  public var height: Int { codedHeight - crop.top - crop.bottom }

  /// Nil where profile and level are none that RFC 6184 knows.
  public var profileLevelID: H264ProfileLevelID? {
    H264ProfileLevelID(profileIDC: profileIDC, constraints: constraints, levelIDC: levelIDC)
  }

  /// Reads a whole NAL unit of type 7, its header first. Throws `NALError`.
  public init(_ unit: RawSpan) throws(NALError) {
    guard unit.byteCount >= 4 else { throw .truncated }
    guard H264NALUnitType(unit.u8(0)) == .sequenceParameterSet else {
      throw .outOfRange(element: "nal_unit_type", value: UInt32(unit.u8(0) & 0x1F))
    }
    var reader = RBSPReader(unit.part(from: 1))
    profileIDC = UInt8(truncatingIfNeeded: try reader.readBits(8))
    constraints = UInt8(truncatingIfNeeded: try reader.readBits(8))
    levelIDC = UInt8(truncatingIfNeeded: try reader.readBits(8))
    id = Int(try reader.readUnsigned("seq_parameter_set_id", upTo: 31))
    var format = 1
    var bits = (8, 8)
    if Self.hasFormat(profileIDC) {
      format = Int(try reader.readUnsigned("chroma_format_idc", upTo: 3))
      // separate_colour_plane_flag
      if format == 3 { try reader.skipBits(1) }
      bits.0 += Int(try reader.readUnsigned("bit_depth_luma_minus8", upTo: 6))
      bits.1 += Int(try reader.readUnsigned("bit_depth_chroma_minus8", upTo: 6))
      // qpprime_y_zero_transform_bypass_flag
      try reader.skipBits(1)
      if try reader.readFlag() {
        try H264ScalingLists.skip(&reader, count: format == 3 ? 12 : 8)
      }
    }
    chromaFormat = format
    (lumaBits, chromaBits) = bits
    frameNumberBits = 4 + Int(try reader.readUnsigned("log2_max_frame_num_minus4", upTo: 12))
    pictureOrderType = Int(try reader.readUnsigned("pic_order_cnt_type", upTo: 2))
    switch pictureOrderType {
    case 0: _ = try reader.readUnsigned("log2_max_pic_order_cnt_lsb_minus4", upTo: 12)
    case 1:
      try reader.skipBits(1)
      _ = try reader.readSigned()
      _ = try reader.readSigned()
      let count = try reader.readUnsigned("num_ref_frames_in_pic_order_cnt_cycle", upTo: 255)
      for _ in 0..<count { _ = try reader.readSigned() }
    default: break
    }
    maximumReferenceFrames = Int(try reader.readUnsigned("max_num_ref_frames", upTo: 16))
    allowsFrameNumberGaps = try reader.readFlag()
    // A level's longest side is the root of 8 * 139,264 macroblocks.
    let columns = 1 + Int(try reader.readUnsigned("pic_width_in_mbs_minus1", upTo: 1_054))
    let rows = 1 + Int(try reader.readUnsigned("pic_height_in_map_units_minus1", upTo: 1_054))
    isProgressive = try reader.readFlag()
    let rowsPerUnit = isProgressive ? 1 : 2
    codedWidth = columns * 16
    codedHeight = rows * rowsPerUnit * 16
    if !isProgressive { try reader.skipBits(1) }
    // direct_8x8_inference_flag
    try reader.skipBits(1)
    crop = try Self.cropping(
      &reader, unitX: format == 1 || format == 2 ? 2 : 1,
      unitY: (format == 1 ? 2 : 1) * rowsPerUnit, width: codedWidth, height: codedHeight)
    let usability = try reader.readFlag() ? try H264VideoUsability(&reader) : nil
    reordering = usability?.reordering
    framesPerSecond = usability?.framesPerSecond
    colorSpace = usability?.colorSpace
  }

  /// Profiles whose sets tell the chroma format and the sample depth.
  private static func hasFormat(_ profile: UInt8) -> Bool {
    [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile)
  }

  private static func cropping(
    _ reader: inout RBSPReader, unitX: Int, unitY: Int, width: Int, height: Int
  ) throws(NALError) -> Cropping {
    var crop = Cropping()
    guard try reader.readFlag() else { return crop }
    // Elements count in units of the chroma's grid. What is left must be a picture.
    crop.left = try offset(&reader, "frame_crop_left_offset", unitX, width)
    crop.right = try offset(&reader, "frame_crop_right_offset", unitX, width - crop.left)
    crop.top = try offset(&reader, "frame_crop_top_offset", unitY, height)
    crop.bottom = try offset(&reader, "frame_crop_bottom_offset", unitY, height - crop.top)
    return crop
  }

  private static func offset(
    _ reader: inout RBSPReader, _ element: String, _ unit: Int, _ size: Int
  ) throws(NALError) -> Int {
    let value = try reader.readUnsigned(element, upTo: UInt32(max(0, (size - 1) / unit)))
    return Int(value) * unit
  }
}

/// Scaling lists of sequence and picture parameter sets, which only decoders need (H.264 §7.3.2.1.1.1).
enum H264ScalingLists {
  static func skip(_ reader: inout RBSPReader, count: Int) throws(NALError) {
    for index in 0..<count where try reader.readFlag() {
      var last: Int32 = 8
      for _ in 0..<(index < 6 ? 16 : 64) {
        let delta = try reader.readSigned()
        guard (-128...127).contains(delta) else {
          throw .outOfRange(element: "delta_scale", value: UInt32(bitPattern: delta))
        }
        last = (last + delta + 256) % 256
        // The rest repeats the last value.
        if last == 0 { break }
      }
    }
  }
}
