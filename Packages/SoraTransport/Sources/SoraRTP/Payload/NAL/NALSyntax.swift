import SoraWire

/// What a NAL unit is, as far as packets and frames go.
enum NALKind: Equatable {
  /// A slice of a picture that needs others.
  case slice
  /// A slice of a picture at which a decoder can start (IDR; IRAP in H.265).
  case randomAccess
  case videoParameters
  case sequenceParameters
  case pictureParameters
  /// Supplemental enhancement information in front of a picture.
  case message
  /// An access unit delimiter.
  case delimiter
  case other
  /// STAP-A or AP.
  case aggregation
  /// FU-A or FU.
  case fragment
  /// Can't be in a packet of the packetization modes that are negotiated.
  case unsupported

  var isPicture: Bool { self == .slice || self == .randomAccess }
  var isParameterSet: Bool {
    self == .videoParameters || self == .sequenceParameters || self == .pictureParameters
  }
}

/// Where H.264 and H.265 differ. Headers are numbers of `headerCount` bytes, in network order.
protocol NALSyntax {
  static var codec: String { get }
  /// Bytes of a unit's header.
  static var headerCount: Int { get }
  /// The types of aggregation and fragmentation packets.
  static var aggregationType: UInt16 { get }
  static var fragmentType: UInt16 { get }
  /// The bits of a fragmentation header that hold the unit's type.
  static var fragmentTypeMask: UInt8 { get }
  static func type(of header: UInt16) -> UInt16
  static func header(_ header: UInt16, type: UInt16) -> UInt16
  /// What the header of an aggregation packet takes from those of two units.
  static func merged(_ a: UInt16, _ b: UInt16) -> UInt16
  static func kind(_ type: UInt16) -> NALKind
  /// Whether the header itself is one that may travel.
  static func isValid(_ header: UInt16) -> Bool
  /// 0 is the base.
  static func temporalLayer(_ header: UInt16) -> UInt8
  /// Whether a slice is the first of its picture.
  static func isFirstSlice(_ unit: RawSpan) -> Bool
  /// The picture parameter set that a slice names. Like `identify` it takes a unit of `headerCount` bytes or more, of whose
  /// end some may be missing.
  static func pictureParametersID(ofSlice unit: RawSpan) throws(NALError) -> Int
  /// The id of a parameter set, and of the set that it builds upon; `nil` for units of other kinds.
  static func identify(_ unit: RawSpan, _ kind: NALKind) throws(NALError) -> ParameterSetID?
}

/// A parameter set's own id and the one of the set above it; `parent` is -1 where there is none.
struct ParameterSetID: Equatable {
  var id: Int
  var parent: Int
}

extension NALSyntax {
  /// The header at the start of `bytes`, which hold at least `headerCount`.
  static func header(_ bytes: RawSpan) -> UInt16 {
    headerCount == 1 ? UInt16(bytes.u8(0)) : bytes.u16(0)
  }

  static func write(_ header: UInt16, to target: inout MutableRawSpan) {
    if headerCount == 1 {
      target.put8(UInt8(truncatingIfNeeded: header), at: 0)
    } else {
      target.put16(header, at: 0)
    }
  }

  /// Whether a message is a recovery point (payloadType 6 in both codecs: ITU-T H.264 §D.2.8, H.265 §D.3.8).
  static func hasRecoveryPoint(_ message: RawSpan) -> Bool {
    var offset = headerCount
    // Sizes count the payload without emulation prevention; a message before it with such bytes hides it.
    while offset + 2 < message.byteCount {
      var type = 0
      while offset < message.byteCount, message.u8(offset) == 0xFF {
        type += 255
        offset += 1
      }
      guard offset < message.byteCount else { return false }
      type += Int(message.u8(offset))
      offset += 1
      if type == 6 { return true }
      var size = 0
      while offset < message.byteCount, message.u8(offset) == 0xFF {
        size += 255
        offset += 1
      }
      guard offset < message.byteCount else { return false }
      size += Int(message.u8(offset))
      offset += 1 + size
    }
    return false
  }
}

/// ITU-T H.264 with RFC 6184.
enum H264Syntax: NALSyntax {
  static var codec: String { "H264" }
  static var headerCount: Int { 1 }
  static var aggregationType: UInt16 { 24 }
  static var fragmentType: UInt16 { 28 }
  static var fragmentTypeMask: UInt8 { 0x1F }
  static func type(of header: UInt16) -> UInt16 { header & 0x1F }
  static func header(_ header: UInt16, type: UInt16) -> UInt16 { header & 0xE0 | type }

  static func merged(_ a: UInt16, _ b: UInt16) -> UInt16 {
    // RFC 6184 §5.7: F is set where one has it; NRI is the highest.
    (a | b) & 0x80 | max(a & 0x60, b & 0x60)
  }

  static func kind(_ type: UInt16) -> NALKind {
    switch type {
    case 1...4: .slice
    case 5: .randomAccess
    case 6: .message
    case 7: .sequenceParameters
    case 8: .pictureParameters
    case 9: .delimiter
    case 10...23: .other
    case 24: .aggregation
    case 28: .fragment
    // Interleaved packets (STAP-B, MTAP, FU-B) belong to mode 2; 0, 30 and 31 are reserved (RFC 6184 table 3).
    default: .unsupported
    }
  }

  static func isValid(_ header: UInt16) -> Bool { true }
  static func temporalLayer(_ header: UInt16) -> UInt8 { 0 }

  static func isFirstSlice(_ unit: RawSpan) -> Bool {
    // first_mb_in_slice is 0: ue(v) of a single 1 bit.
    unit.byteCount > 1 && unit.u8(1) & 0x80 != 0
  }

  static func pictureParametersID(ofSlice unit: RawSpan) throws(NALError) -> Int {
    var reader = RBSPReader(leading: unit.part(from: 1))
    // first_mb_in_slice, slice_type.
    _ = try reader.readUnsigned()
    _ = try reader.readUnsigned()
    return Int(try reader.readUnsigned("pic_parameter_set_id", upTo: 255))
  }

  static func identify(_ unit: RawSpan, _ kind: NALKind) throws(NALError) -> ParameterSetID? {
    var reader = RBSPReader(leading: unit.part(from: 1))
    switch kind {
    case .sequenceParameters:
      // profile_idc, constraint flags, level_idc.
      try reader.skipBits(24)
      let id = try reader.readUnsigned("seq_parameter_set_id", upTo: 31)
      return ParameterSetID(id: Int(id), parent: -1)
    case .pictureParameters:
      let id = try reader.readUnsigned("pic_parameter_set_id", upTo: 255)
      let parent = try reader.readUnsigned("seq_parameter_set_id", upTo: 31)
      return ParameterSetID(id: Int(id), parent: Int(parent))
    default: return nil
    }
  }
}

/// ITU-T H.265 with RFC 7798.
enum H265Syntax: NALSyntax {
  static var codec: String { "H265" }
  static var headerCount: Int { 2 }
  static var aggregationType: UInt16 { 48 }
  static var fragmentType: UInt16 { 49 }
  static var fragmentTypeMask: UInt8 { 0x3F }
  static func type(of header: UInt16) -> UInt16 { header >> 9 & 0x3F }
  static func header(_ header: UInt16, type: UInt16) -> UInt16 { header & 0x81FF | type << 9 }

  static func merged(_ a: UInt16, _ b: UInt16) -> UInt16 {
    // RFC 7798 §4.4.2: F is set where one has it; LayerId and TID are the lowest.
    (a | b) & 0x8000 | min(a & 0x01F8, b & 0x01F8) | min(a & 7, b & 7)
  }

  static func kind(_ type: UInt16) -> NALKind {
    switch type {
    case 16...23: .randomAccess
    case 0...31: .slice
    case 32: .videoParameters
    case 33: .sequenceParameters
    case 34: .pictureParameters
    case 35: .delimiter
    case 39: .message
    case 36...47: .other
    case 48: .aggregation
    case 49: .fragment
    // 50 is PACI, an extension that is only sent where both sides declare it (RFC 7798 §4.4.4).
    default: .unsupported
    }
  }

  static func isValid(_ header: UInt16) -> Bool { header & 7 != 0 }
  static func temporalLayer(_ header: UInt16) -> UInt8 { UInt8(header & 7) &- 1 }

  static func isFirstSlice(_ unit: RawSpan) -> Bool {
    // first_slice_segment_in_pic_flag.
    unit.byteCount > 2 && unit.u8(2) & 0x80 != 0
  }

  static func pictureParametersID(ofSlice unit: RawSpan) throws(NALError) -> Int {
    var reader = RBSPReader(leading: unit.part(from: 2))
    // first_slice_segment_in_pic_flag, and no_output_of_prior_pics_flag where decoding can start.
    try reader.skipBits(kind(type(of: header(unit))) == .randomAccess ? 2 : 1)
    return Int(try reader.readUnsigned("slice_pic_parameter_set_id", upTo: 63))
  }

  static func identify(_ unit: RawSpan, _ kind: NALKind) throws(NALError) -> ParameterSetID? {
    var reader = RBSPReader(leading: unit.part(from: 2))
    switch kind {
    case .videoParameters:
      return ParameterSetID(id: Int(try reader.readBits(4)), parent: -1)
    case .sequenceParameters:
      let parent = Int(try reader.readBits(4))
      let subLayers = Int(try reader.readBits(3))
      try reader.skipBits(1)
      // profile_tier_level (ITU-T H.265 §7.3.3): 88 bits of profile and 8 of level, then those of sub-layers that have any.
      try reader.skipBits(96)
      var profiles = 0
      var levels = 0
      if subLayers > 0 {
        for layer in 0..<8 {
          let flags = try reader.readBits(2)
          guard layer < subLayers else { continue }
          profiles += Int(flags >> 1)
          levels += Int(flags & 1)
        }
      }
      try reader.skipBits(88 * profiles + 8 * levels)
      let id = try reader.readUnsigned("sps_seq_parameter_set_id", upTo: 15)
      return ParameterSetID(id: Int(id), parent: parent)
    case .pictureParameters:
      let id = try reader.readUnsigned("pps_pic_parameter_set_id", upTo: 63)
      let parent = try reader.readUnsigned("pps_seq_parameter_set_id", upTo: 15)
      return ParameterSetID(id: Int(id), parent: Int(parent))
    default: return nil
    }
  }
}
