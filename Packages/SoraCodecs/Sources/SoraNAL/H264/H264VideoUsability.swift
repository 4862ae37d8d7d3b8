import SoraMedia
import SoraWire

/// What is of use here in a sequence parameter set's video usability information (H.264 §E.1.1).
struct H264VideoUsability {
  let framesPerSecond: Double?
  let colorSpace: VideoColorSpace?
  let reordering: H264Reordering?

  init(_ reader: inout RBSPReader) throws(NALError) {
    // Aspect ratio: 255 (Extended_SAR) is followed by width and height.
    if try reader.readFlag(), try reader.readBits(8) == 255 { try reader.skipBits(32) }
    // Overscan.
    if try reader.readFlag() { try reader.skipBits(1) }
    // Video signal type.
    colorSpace = try reader.readFlag() ? try VideoColorSpace(signalType: &reader) : nil
    // Chroma sample location.
    if try reader.readFlag() {
      _ = try reader.readUnsigned("chroma_sample_loc_type_top_field", upTo: 5)
      _ = try reader.readUnsigned("chroma_sample_loc_type_bottom_field", upTo: 5)
    }
    var rate: Double?
    if try reader.readFlag() {
      let ticks = try reader.readBits(32)
      let scale = try reader.readBits(32)
      try reader.skipBits(1)
      // A tick is the time of a field (§E.2.1).
      if ticks > 0, scale > 0 { rate = Double(scale) / Double(ticks) / 2 }
    }
    framesPerSecond = rate
    let hasNAL = try reader.readFlag()
    if hasNAL { try Self.skipReferenceDecoder(&reader) }
    let hasVCL = try reader.readFlag()
    if hasVCL { try Self.skipReferenceDecoder(&reader) }
    // low_delay_hrd_flag, then pic_struct_present_flag.
    try reader.skipBits(hasNAL || hasVCL ? 2 : 1)
    guard try reader.readFlag() else {
      reordering = nil
      return
    }
    try reader.skipBits(1)
    _ = try reader.readUnsigned("max_bytes_per_pic_denom", upTo: 16)
    _ = try reader.readUnsigned("max_bits_per_mb_denom", upTo: 16)
    _ = try reader.readUnsigned("log2_max_mv_length_horizontal", upTo: 16)
    _ = try reader.readUnsigned("log2_max_mv_length_vertical", upTo: 16)
    let frames = try reader.readUnsigned("max_num_reorder_frames", upTo: 16)
    let buffering = try reader.readUnsigned("max_dec_frame_buffering", upTo: 16)
    guard frames <= buffering else {
      throw .outOfRange(element: "max_num_reorder_frames", value: frames)
    }
    reordering = .init(frames: Int(frames), buffering: Int(buffering))
  }

  /// `hrd_parameters()` (H.264 §E.1.2).
  private static func skipReferenceDecoder(_ reader: inout RBSPReader) throws(NALError) {
    let count = try reader.readUnsigned("cpb_cnt_minus1", upTo: 31)
    try reader.skipBits(8)
    for _ in 0...count {
      _ = try reader.readUnsigned()
      _ = try reader.readUnsigned()
      try reader.skipBits(1)
    }
    try reader.skipBits(20)
  }
}

/// How far pictures are shown out of their order (H.264 §E.2.1).
public struct H264Reordering: Sendable, Hashable {
  /// Frames that may come before one and be shown after it; 0 means that each can be shown at once.
  public let frames: Int
  /// Frames that the decoder keeps at most.
  public let buffering: Int
}
