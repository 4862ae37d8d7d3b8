public import SoraWire

/// The types of slices (H.264 table 7-6), the lower five.
public enum H264SliceType: UInt8, Sendable, Hashable {
  case p = 0
  case b = 1
  case i = 2
  case switchingP = 3
  case switchingI = 4
}

/// What an access unit (one picture with what goes before it) is made of, without decoding it.
///
/// Takes any bytes: what can't be read isn't counted.
public struct H264AccessUnit: Sendable, Hashable {
  /// NAL units of every kind.
  public private(set) var units = 0
  /// Slices of the picture.
  public private(set) var slices = 0
  /// Whether decoding can start here: an IDR picture (H.264 §3.69), which refers to nothing before it.
  public private(set) var isKeyFrame = false
  /// Whether other pictures may refer to this one (`nal_ref_idc` isn't 0).
  public private(set) var isReference = false
  public private(set) var hasPictureParameterSet = false
  /// The last sequence parameter set in it; nil where there is none that can be read.
  public private(set) var sequenceParameterSet: H264SequenceParameterSet?
  /// Samples of the largest coded picture that its sequence parameter sets announce; 0 where there is none.
  public private(set) var largestPicture = 0
  /// Why a sequence parameter set couldn't be read.
  public private(set) var sequenceParameterSetError: NALError?
  /// Of the first slice; nil where there is none that can be read.
  public private(set) var sliceType: H264SliceType?
  /// Bytes of the longest unit.
  public private(set) var longestUnit = 0

  /// Reads an Annex B byte stream.
  public init(_ bytes: RawSpan) {
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() { add(unit) }
  }

  /// Whether it has a sequence parameter set that can be read, and a picture parameter set.
  public var hasParameterSets: Bool { sequenceParameterSet != nil && hasPictureParameterSet }

  private mutating func add(_ unit: RawSpan) {
    units += 1
    longestUnit = max(longestUnit, unit.byteCount)
    let first = unit.u8(0)
    guard first & 0x80 == 0, let type = H264NALUnitType(first) else { return }
    switch type {
    case .sequenceParameterSet:
      do {
        let set = try H264SequenceParameterSet(unit)
        largestPicture = max(largestPicture, set.codedWidth * set.codedHeight)
        sequenceParameterSet = set
      } catch {
        sequenceParameterSetError = error
      }
    case .pictureParameterSet: hasPictureParameterSet = true
    case .slice, .slicePartitionA, .instantaneousRefreshSlice:
      slices += 1
      isReference = isReference || first & 0x60 != 0
      isKeyFrame = isKeyFrame || type == .instantaneousRefreshSlice
      if sliceType == nil { sliceType = Self.sliceType(unit) }
    default: break
    }
  }

  /// `slice_type` follows `first_mb_in_slice` (§7.3.3); 5 to 9 say that all slices of the picture have that type.
  private static func sliceType(_ unit: RawSpan) -> H264SliceType? {
    var reader = RBSPReader(unit.part(from: 1))
    guard (try? reader.readUnsigned()) != nil,
      let value = try? reader.readUnsigned("slice_type", upTo: 9)
    else { return nil }
    return H264SliceType(rawValue: UInt8(value % 5))
  }
}
