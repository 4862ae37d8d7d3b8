public import SoraMedia
public import SoraWire

/// A sequence parameter set up to what slice headers need (H.265 §7.3.2.2), checked against the ranges of §7.4.3.2.
public struct H265SequenceParameterSet: Sendable {
  /// 0...15.
  public let id: Int
  public let profileTierLevel: H265ProfileTierLevel
  /// Temporal layers that the stream may have, 1...7.
  public let maximumSubLayers: Int
  /// 0 is grey, 1 is 4:2:0, 2 is 4:2:2, 3 is 4:4:4.
  public let chromaFormat: Int
  public let lumaBitDepth: Int
  public let chromaBitDepth: Int
  /// The coded picture, in luma samples.
  public let codedWidth: Int
  public let codedHeight: Int
  /// What is shown of it: the conformance window.
  public let width: Int
  public let height: Int
  /// Pictures that a decoder must keep, the current one counted, 1...16; of the highest temporal layer.
  public let maximumDecodedPictures: Int
  /// Pictures that may come before another in the stream and behind it in time; 0 where decoding order is output order.
  public let maximumReorderedPictures: Int
  /// Edge of a coding tree block: 16, 32 or 64.
  public let codingTreeBlockSize: Int
  /// What the VUI says of colours (§E.3.1); nil where it doesn't say, or can't be read.
  public let colorSpace: VideoColorSpace?

  let separatesColourPlanes: Bool
  let pictureOrderCountBits: Int
  let referencePictureSets: [H265ReferencePictureSet]
  let hasLongTermReferences: Bool
  /// Low bits of the long-term references that slice headers name by number, and whether they are used.
  let longTermReferences: [(lowBits: Int, isUsed: Bool)]

  /// 8 bits a sample, 4:2:0: what every decoder of WebRTC takes.
  public var isEightBit420: Bool {
    chromaFormat == 1 && lumaBitDepth == 8 && chromaBitDepth == 8 && !separatesColourPlanes
  }

  /// The longest side that any level allows: the root of eight times 35,651,584 samples (§A.4.1).
  private static let longestSide: UInt32 = 16_888

  /// Reads a NAL unit, its header first.
  public init(_ unit: RawSpan) throws(NALError) {
    guard unit.byteCount > 2 else { throw .truncated }
    var reader = RBSPReader(unit.part(from: 2))
    // sps_video_parameter_set_id.
    try reader.skipBits(4)
    let subLayersMinus1 = try reader.readBits(3)
    guard subLayersMinus1 <= 6 else {
      throw .outOfRange(element: "sps_max_sub_layers_minus1", value: subLayersMinus1)
    }
    maximumSubLayers = Int(subLayersMinus1) + 1
    // sps_temporal_id_nesting_flag.
    try reader.skipBits(1)
    profileTierLevel = try H265ProfileTierLevel(
      &reader, maximumSubLayersMinus1: Int(subLayersMinus1))
    id = Int(try reader.readUnsigned("sps_seq_parameter_set_id", upTo: 15))
    chromaFormat = Int(try reader.readUnsigned("chroma_format_idc", upTo: 3))
    separatesColourPlanes = chromaFormat == 3 ? try reader.readFlag() : false

    codedWidth = Int(
      try reader.readUnsigned("pic_width_in_luma_samples", upTo: Self.longestSide))
    codedHeight = Int(
      try reader.readUnsigned("pic_height_in_luma_samples", upTo: Self.longestSide))
    let window = try Self.window(
      &reader, chromaFormat: chromaFormat, width: codedWidth, height: codedHeight)
    width = window.width
    height = window.height
    lumaBitDepth = 8 + Int(try reader.readUnsigned("bit_depth_luma_minus8", upTo: 8))
    chromaBitDepth = 8 + Int(try reader.readUnsigned("bit_depth_chroma_minus8", upTo: 8))
    pictureOrderCountBits =
      4 + Int(try reader.readUnsigned("log2_max_pic_order_cnt_lsb_minus4", upTo: 12))

    let hasOrderingOfAll = try reader.readFlag()
    var decoded: UInt32 = 0
    var reordered: UInt32 = 0
    for _ in 0...(hasOrderingOfAll ? subLayersMinus1 : 0) {
      decoded = try reader.readUnsigned("sps_max_dec_pic_buffering_minus1", upTo: 15)
      reordered = try reader.readUnsigned("sps_max_num_reorder_pics", upTo: decoded)
      // sps_max_latency_increase_plus1.
      _ = try reader.readUnsigned()
    }
    maximumDecodedPictures = Int(decoded) + 1
    maximumReorderedPictures = Int(reordered)

    let blocks = try H265BlockSizes(&reader)
    codingTreeBlockSize = 1 << blocks.codingTreeBits
    let smallest = 1 << blocks.smallestCodingBits
    guard codedWidth > 0, codedWidth % smallest == 0 else {
      throw .outOfRange(element: "pic_width_in_luma_samples", value: UInt32(codedWidth))
    }
    guard codedHeight > 0, codedHeight % smallest == 0 else {
      throw .outOfRange(element: "pic_height_in_luma_samples", value: UInt32(codedHeight))
    }
    // scaling_list_enabled_flag, sps_scaling_list_data_present_flag.
    if try reader.readFlag(), try reader.readFlag() { try Self.skipScalingLists(&reader) }
    // amp_enabled_flag, sample_adaptive_offset_enabled_flag.
    try reader.skipBits(2)
    // pcm_enabled_flag.
    if try reader.readFlag() {
      try blocks.checkPCM(&reader, luma: lumaBitDepth, chroma: chromaBitDepth)
    }

    let setCount = Int(try reader.readUnsigned("num_short_term_ref_pic_sets", upTo: 64))
    var sets: [H265ReferencePictureSet] = []
    sets.reserveCapacity(setCount)
    for index in 0..<setCount {
      sets.append(try H265ReferencePictureSet(&reader, index: index, known: sets))
    }
    referencePictureSets = sets
    hasLongTermReferences = try reader.readFlag()
    var longTerm: [(lowBits: Int, isUsed: Bool)] = []
    if hasLongTermReferences {
      let count = try reader.readUnsigned("num_long_term_ref_pics_sps", upTo: 32)
      for _ in 0..<count {
        let lowBits = Int(try reader.readBits(pictureOrderCountBits))
        longTerm.append((lowBits, try reader.readFlag()))
      }
    }
    longTermReferences = longTerm
    // What follows changes neither size nor prediction: a set that ends here is good enough.
    colorSpace = try? Self.colorSpace(&reader)
  }

  /// The VUI up to what it says of colours (§E.2.1), with what is before it.
  private static func colorSpace(_ reader: inout RBSPReader) throws(NALError) -> VideoColorSpace? {
    // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag, then vui_parameters_present_flag.
    try reader.skipBits(2)
    guard try reader.readFlag() else { return nil }
    // Aspect ratio: 255 (EXTENDED_SAR) is followed by width and height. Then overscan.
    if try reader.readFlag(), try reader.readBits(8) == 255 { try reader.skipBits(32) }
    if try reader.readFlag() { try reader.skipBits(1) }
    return try reader.readFlag() ? try VideoColorSpace(signalType: &reader) : nil
  }

  /// The conformance window, in units of chroma samples (§7.4.3.2.1).
  private static func window(
    _ reader: inout RBSPReader, chromaFormat: Int, width: Int, height: Int
  ) throws(NALError) -> (width: Int, height: Int) {
    guard try reader.readFlag() else { return (width, height) }
    let unitWidth = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
    let unitHeight = chromaFormat == 1 ? 2 : 1
    let left = Int(try reader.readUnsigned("conf_win_left_offset", upTo: longestSide))
    let right = Int(try reader.readUnsigned("conf_win_right_offset", upTo: longestSide))
    let top = Int(try reader.readUnsigned("conf_win_top_offset", upTo: longestSide))
    let bottom = Int(try reader.readUnsigned("conf_win_bottom_offset", upTo: longestSide))
    let shownWidth = width - unitWidth * (left + right)
    let shownHeight = height - unitHeight * (top + bottom)
    guard shownWidth > 0 else {
      throw .outOfRange(element: "conf_win_right_offset", value: UInt32(right))
    }
    guard shownHeight > 0 else {
      throw .outOfRange(element: "conf_win_bottom_offset", value: UInt32(bottom))
    }
    return (shownWidth, shownHeight)
  }

  /// `scaling_list_data()` (§7.3.4).
  private static func skipScalingLists(_ reader: inout RBSPReader) throws(NALError) {
    for size in 0..<4 {
      for matrix in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
        // scaling_list_pred_mode_flag.
        guard try reader.readFlag() else {
          let maximum = size == 3 ? matrix / 3 : matrix
          _ = try reader.readUnsigned(
            "scaling_list_pred_matrix_id_delta", upTo: UInt32(maximum))
          continue
        }
        if size > 1 { _ = try reader.readSigned() }
        for _ in 0..<min(64, 1 << (4 + 2 * size)) { _ = try reader.readSigned() }
      }
    }
  }
}

/// Sizes of the blocks that a picture is divided into, as powers of two.
struct H265BlockSizes {
  let smallestCodingBits: Int
  let codingTreeBits: Int

  init(_ reader: inout RBSPReader) throws(NALError) {
    let smallest = 3 + (try reader.readUnsigned("log2_min_luma_coding_block_size_minus3", upTo: 3))
    let difference = try reader.readUnsigned(
      "log2_diff_max_min_luma_coding_block_size", upTo: 3)
    // §7.4.3.2.1: 16 to 64 samples.
    guard (4...6).contains(smallest + difference) else {
      throw .outOfRange(
        element: "log2_diff_max_min_luma_coding_block_size", value: difference)
    }
    let transform =
      2 + (try reader.readUnsigned("log2_min_luma_transform_block_size_minus2", upTo: 3))
    guard transform < smallest else {
      throw .outOfRange(
        element: "log2_min_luma_transform_block_size_minus2", value: transform - 2)
    }
    let more = try reader.readUnsigned("log2_diff_max_min_luma_transform_block_size", upTo: 3)
    guard transform + more <= min(smallest + difference, 5) else {
      throw .outOfRange(element: "log2_diff_max_min_luma_transform_block_size", value: more)
    }
    let deepest = smallest + difference - transform
    _ = try reader.readUnsigned("max_transform_hierarchy_depth_inter", upTo: deepest)
    _ = try reader.readUnsigned("max_transform_hierarchy_depth_intra", upTo: deepest)
    smallestCodingBits = Int(smallest)
    codingTreeBits = Int(smallest + difference)
  }

  /// Checks what is said of blocks that are coded as plain samples.
  func checkPCM(_ reader: inout RBSPReader, luma: Int, chroma: Int) throws(NALError) {
    let lumaBits = Int(try reader.readBits(4)) + 1
    let chromaBits = Int(try reader.readBits(4)) + 1
    guard lumaBits <= luma else {
      throw .outOfRange(element: "pcm_sample_bit_depth_luma_minus1", value: UInt32(lumaBits - 1))
    }
    guard chromaBits <= chroma else {
      throw .outOfRange(
        element: "pcm_sample_bit_depth_chroma_minus1", value: UInt32(chromaBits - 1))
    }
    let smallest = try reader.readUnsigned("log2_min_pcm_luma_coding_block_size_minus3", upTo: 2)
    guard Int(smallest) + 3 >= min(smallestCodingBits, 5), Int(smallest) + 3 <= codingTreeBits
    else {
      throw .outOfRange(element: "log2_min_pcm_luma_coding_block_size_minus3", value: smallest)
    }
    let difference = try reader.readUnsigned(
      "log2_diff_max_min_pcm_luma_coding_block_size", upTo: 2)
    guard Int(smallest + difference) + 3 <= min(codingTreeBits, 5) else {
      throw .outOfRange(
        element: "log2_diff_max_min_pcm_luma_coding_block_size", value: difference)
    }
    // pcm_loop_filter_disabled_flag.
    try reader.skipBits(1)
  }
}
