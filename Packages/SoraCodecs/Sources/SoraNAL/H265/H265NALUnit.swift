import SoraWire

/// What a NAL unit of H.265 holds (H.265 table 7-1). Values that aren't named are reserved or unspecified.
public struct H265NALUnitType: RawRepresentable, Sendable, Hashable {
  /// 0...63.
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let trailingNonReference = Self(rawValue: 0)
  public static let trailing = Self(rawValue: 1)
  public static let raslNonReference = Self(rawValue: 8)
  public static let rasl = Self(rawValue: 9)
  public static let idrWithLeading = Self(rawValue: 19)
  public static let idr = Self(rawValue: 20)
  public static let cra = Self(rawValue: 21)
  public static let videoParameterSet = Self(rawValue: 32)
  public static let sequenceParameterSet = Self(rawValue: 33)
  public static let pictureParameterSet = Self(rawValue: 34)
  public static let accessUnitDelimiter = Self(rawValue: 35)
  public static let endOfSequence = Self(rawValue: 36)
  public static let endOfBitstream = Self(rawValue: 37)
  public static let prefixSEI = Self(rawValue: 39)
  /// An aggregation packet of RFC 7798 §4.4.2; never in a byte stream.
  public static let aggregationPacket = Self(rawValue: 48)
  /// A fragmentation unit of RFC 7798 §4.4.3; never in a byte stream.
  public static let fragmentationUnit = Self(rawValue: 49)

  /// A slice of a picture.
  public var isSlice: Bool { rawValue <= 9 || (16...21).contains(rawValue) }
  /// A slice of a picture at which decoding can start (IDR, BLA and CRA; 22 and 23 are reserved for more of them).
  public var isRandomAccess: Bool { (16...23).contains(rawValue) }
  /// A slice of an IDR picture, whose header has no picture order count.
  public var isIDR: Bool { self == .idrWithLeading || self == .idr }
  /// A slice of a BLA picture.
  public var isBrokenLink: Bool { (16...18).contains(rawValue) }
  /// A slice of a leading picture that can't be decoded where decoding started at its random access picture.
  public var isSkippedLeading: Bool { self == .raslNonReference || self == .rasl }
  /// A slice of a leading picture, which comes behind a random access picture and is shown before it.
  public var isLeading: Bool { (6...9).contains(rawValue) }
  /// A slice that no picture of the same temporal layer refers to.
  public var isSubLayerNonReference: Bool { rawValue <= 14 && rawValue & 1 == 0 }
  /// Parameter sets: video, sequence, picture.
  public var isParameterSet: Bool { (32...34).contains(rawValue) }
}

/// The two bytes that every NAL unit of H.265 begins with (H.265 §7.3.1.2).
public struct H265NALUnitHeader: Sendable, Hashable {
  public var type: H265NALUnitType
  /// Layer of the multilayer extensions, 0...63; 0 for everything of version 1.
  public var layerID: UInt8
  /// 0...6.
  public var temporalID: UInt8

  /// Reads the header; nil where there are less than two bytes, or where the forbidden bit or values say that it is none.
  public init?(_ unit: RawSpan) {
    guard unit.byteCount >= 2, unit.u8(0) & 0x80 == 0, unit.u8(1) & 7 != 0 else { return nil }
    type = H265NALUnitType(rawValue: unit.u8(0) >> 1 & 0x3F)
    layerID = (unit.u8(0) & 1) << 5 | unit.u8(1) >> 3
    temporalID = (unit.u8(1) & 7) - 1
  }
}
