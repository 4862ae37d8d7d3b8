/// The types of NAL units that matter here (H.264 table 7-1).
public enum H264NALUnitType: UInt8, Sendable, Hashable {
  case slice = 1
  case slicePartitionA = 2
  case slicePartitionB = 3
  case slicePartitionC = 4
  case instantaneousRefreshSlice = 5
  case supplementalInformation = 6
  case sequenceParameterSet = 7
  case pictureParameterSet = 8
  case accessUnitDelimiter = 9
  case endOfSequence = 10
  case endOfStream = 11
  case filler = 12
  case prefix = 14
  case subsetSequenceParameterSet = 15

  /// The type that a unit's first byte says; nil for types that aren't listed here.
  public init?(_ header: UInt8) { self.init(rawValue: header & 0x1F) }
}
