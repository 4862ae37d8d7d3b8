/// What an AV1 sequence header says of its pictures (AV1 bitstream specification §5.5.1).
public struct AV1SequenceHeader: Sendable, Hashable {
  /// Pixels of the largest picture.
  public let width: Int
  public let height: Int
  /// `matrix_coefficients` as H.273 numbers them; 2 where they aren't told.
  public let matrixCoefficients: Int
  /// `color_range`: whether samples use 0 to 255.
  public let isFullRange: Bool
  /// Bits of a sample (`BitDepth`, §5.5.2): 8, 10 or 12; 8 in a header that ends before it says so. Main profile has 8 and 10.
  public let bitDepth: Int

  /// Reads the payload of a sequence header's unit; nil where it ends too early. Any bytes may be given.
  public init?(_ bytes: RawSpan) {
    var bits = BitReader(bytes)
    let profile = bits.read(3)
    _ = bits.read(1)  // still_picture
    let isReduced = bits.read(1) == 1
    if isReduced {
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
    bits.skipTools(isReduced: isReduced)
    let colors = bits.readColors(profile: profile)
    matrixCoefficients = colors.matrix
    isFullRange = colors.isFullRange
    bitDepth = colors.bitDepth
  }
}

extension BitReader {
  /// Passes over what is between the size and the colours.
  @_lifetime(self: copy self)
  fileprivate mutating func skipTools(isReduced: Bool) {
    if !isReduced, read(1) == 1 { _ = read(7) }  // lengths of frame ids
    _ = read(3)  // use_128x128_superblock, enable_filter_intra, enable_intra_edge_filter
    if !isReduced {
      _ = read(4)  // enable_interintra_compound to enable_dual_filter
      let hasOrderHint = read(1) == 1
      if hasOrderHint { _ = read(2) }
      // seq_choose_screen_content_tools, or the choice; then the same of whole motion vectors where there may be such tools.
      var mayHaveScreenTools = read(1) == 1
      if !mayHaveScreenTools { mayHaveScreenTools = read(1) == 1 }
      if mayHaveScreenTools, read(1) == 0 { _ = read(1) }
      if hasOrderHint { _ = read(3) }
    }
    _ = read(3)  // enable_superres, enable_cdef, enable_restoration
  }

  /// The beginning of `color_config` (§5.5.2); what a header that ends before it doesn't say.
  @_lifetime(self: copy self)
  fileprivate mutating func readColors(profile: UInt32) -> (
    matrix: Int, isFullRange: Bool, bitDepth: Int
  ) {
    var bitDepth = 8
    if read(1) == 1 {  // high_bitdepth
      bitDepth = 10
      if profile == 2, read(1) == 1 { bitDepth = 12 }  // twelve_bit
    }
    // Bits past the end read as 0, and may not have been meant.
    if isExhausted { bitDepth = 8 }
    if profile != 1 { _ = read(1) }  // mono_chrome
    var (primaries, transfer, matrix): (UInt32, UInt32, UInt32) = (2, 2, 2)
    if read(1) == 1 { (primaries, transfer, matrix) = (read(8), read(8), read(8)) }
    // sRGB has no bit for its range.
    var isFullRange = (primaries, transfer, matrix) == (1, 13, 0)
    if !isFullRange { isFullRange = read(1) == 1 }
    return isExhausted ? (2, false, bitDepth) : (Int(matrix), isFullRange, bitDepth)
  }

  /// Skips a value of AV1's uvlc().
  @_lifetime(self: copy self)
  fileprivate mutating func skipExponentialGolomb() {
    var zeros = 0
    while zeros < 32, !isExhausted, read(1) == 0 { zeros += 1 }
    if zeros < 32 { _ = read(zeros) }
  }
}
