public import SoraWire

/// What an access unit of H.265 says about itself, before a decoder sees it.
public struct H265AccessUnit: Sendable, Hashable {
  /// Pictures that begin in it; 1 in a sound access unit.
  public internal(set) var pictureCount = 0
  /// Slices, those of higher layers left out.
  public internal(set) var sliceCount = 0
  /// Whether decoding can start here: it begins with a slice of an IDR, BLA or CRA picture.
  public internal(set) var isKeyFrame = false
  /// Whether it has a sequence and a picture parameter set.
  public internal(set) var hasParameterSets = false
  /// Temporal layer of the picture, 0...6.
  public internal(set) var temporalID = 0
  /// What is shown, in luma samples; 0 without a picture.
  public internal(set) var width = 0
  public internal(set) var height = 0
  /// What is coded, in whole coding blocks.
  public internal(set) var codedWidth = 0
  public internal(set) var codedHeight = 0
  /// Pictures that may be shown later than ones behind them in the stream; 0 where both orders are the same.
  public internal(set) var reorderedPictures = 0
  /// 8 bits a sample, 4:2:0.
  public internal(set) var isEightBit420 = true
  /// Whether a picture that it refers to is missing, or damaged itself, or whether its first slice is.
  public internal(set) var isDamaged = false
  /// Whether it is left out by decoders: a leading picture of a random access picture at which decoding started.
  public internal(set) var isSkipped = false
  /// Profile, chroma format and bit depth, for errors.
  public internal(set) var format = ""
}

/// Reads the parameter sets and slice headers of a stream (Annex B), and follows which pictures its decoder holds.
///
/// Every access unit that the decoder gets is to be shown to it first, in decoding order. Any input is taken.
public struct H265StreamInspector {
  private var sets = H265ParameterSets()
  private var tracker = H265ReferenceTracker()
  /// What the last random access picture was coded with: size and format stay until the next one (§7.4.2.4.2).
  private var active: (width: Int, height: Int, isEightBit420: Bool)?

  public init() {}

  /// The decoder starts anew with the next key frame. Parameter sets are forgotten too if `forgetting` says so.
  public mutating func restart(forgettingParameterSets forgetting: Bool = false) {
    tracker.restart()
    active = nil
    if forgetting { sets.removeAll() }
  }

  /// The picture of the last access unit came out damaged.
  public mutating func markDamaged() { tracker.markDamaged() }

  /// Reads the next access unit. Throws `NALError` where a parameter set or the slice header can't be read.
  public mutating func inspect(_ bytes: RawSpan) throws(NALError) -> H265AccessUnit {
    var summary = H265AccessUnit()
    var hasSequence = false
    var pictureID: UInt32?
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() {
      guard let header = H265NALUnitHeader(unit), header.layerID == 0 else { continue }
      // Parameter sets come before the first slice (§7.4.2.4.4); behind it they would change what is being decoded.
      if header.type.isParameterSet, summary.sliceCount > 0 {
        throw .outOfRange(element: "nal_unit_type", value: UInt32(header.type.rawValue))
      }
      switch header.type {
      case .sequenceParameterSet:
        sets.add(try H265SequenceParameterSet(unit))
        hasSequence = true
      case .pictureParameterSet:
        sets.add(try H265PictureParameterSet(unit))
        summary.hasParameterSets = hasSequence
      case .endOfSequence, .endOfBitstream: tracker.restart()
      case let type where type.isSlice:
        summary.sliceCount += 1
        // All slices of a picture name the same set (§7.4.7.1).
        let named = try H265SliceHeader.pictureID(unit, header)
        guard pictureID == nil || pictureID == named else {
          throw .outOfRange(element: "slice_pic_parameter_set_id", value: named)
        }
        pictureID = named
        if H265SliceHeader.isFirst(unit) { try begin(unit, header, &summary) }
      default: break
      }
    }
    if summary.sliceCount > 0, summary.pictureCount == 0 {
      // The picture's first slice is missing: a decoder adds the others to nothing, or to the picture before.
      summary.isDamaged = true
      tracker.markDamaged()
    }
    return summary
  }

  private mutating func begin(
    _ unit: RawSpan, _ header: H265NALUnitHeader, _ summary: inout H265AccessUnit
  ) throws(NALError) {
    guard let slice = try H265SliceHeader(unit, header, sets),
      let sequence = sets.picture(slice.pictureID).flatMap({ sets.sequence($0.sequenceID) })
    else { throw .outOfRange(element: "slice_pic_parameter_set_id", value: .max) }
    summary.pictureCount += 1
    let shape = (sequence.codedWidth, sequence.codedHeight, sequence.isEightBit420)
    if header.type.isRandomAccess {
      active = shape
    } else if let active, active != shape {
      throw .outOfRange(
        element: "pic_width_in_luma_samples", value: UInt32(sequence.codedWidth))
    }
    let verdict = try tracker.add(slice, orderBits: sequence.pictureOrderCountBits)
    if verdict == .damaged { summary.isDamaged = true }
    guard summary.pictureCount == 1 else { return }
    summary.isSkipped = verdict == .skipped
    if summary.sliceCount > 1 {
      // Slices before the picture's first one are another's, whose first is missing.
      summary.isDamaged = true
      tracker.markDamaged()
    }
    summary.isKeyFrame = header.type.isRandomAccess && summary.sliceCount == 1
    summary.temporalID = Int(header.temporalID)
    summary.width = sequence.width
    summary.height = sequence.height
    summary.codedWidth = sequence.codedWidth
    summary.codedHeight = sequence.codedHeight
    summary.reorderedPictures = sequence.maximumReorderedPictures
    summary.isEightBit420 = sequence.isEightBit420
    if !sequence.isEightBit420 {
      let chroma = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"][sequence.chromaFormat]
      summary.format =
        "profile \(sequence.profileTierLevel.profile), \(chroma), \(sequence.lumaBitDepth) bits"
    }
  }

  /// Whether decoding can start at an access unit: it holds a slice of an IDR, BLA or CRA picture before any other. Reads
  /// NAL unit headers only.
  public static func isKeyFrame(_ bytes: RawSpan) -> Bool {
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() {
      guard let header = H265NALUnitHeader(unit), header.layerID == 0 else { continue }
      if header.type.isSlice { return header.type.isRandomAccess }
    }
    return false
  }
}
