public import SoraMedia
import SoraNAL
import SoraWire

/// What a file says of a video track: its codec, the first picture's size, and what a decoder needs beside the frames.
///
/// Read from a key frame. Any bytes may be given: what isn't a key frame of the codec has no parameters.
public struct VideoTrackParameters: Sendable, Hashable {
  public let codec: VideoCodecKind
  /// Pixels, as shown.
  public let width: Int
  public let height: Int
  /// How far the picture is to be turned.
  public var rotation = VideoRotation.none
  /// Parameter sets with start codes (H.264, H.265), or a sequence header with its header and size (AV1); empty for VP8 and VP9,
  /// whose key frames say it all.
  public let parameterSets: [UInt8]

  /// More than any encoder writes. What is longer isn't kept.
  private static let maximumParameterSets = 65_536

  /// Reads a key frame.
  ///
  /// - Parameters:
  ///   - frame: its payload; its width and height go before what is read, where they are known.
  ///   - codec: what it is encoded with.
  /// - Returns: nil where no decoder could start with this frame: parameter sets or the size are missing.
  public init?(keyFrame frame: EncodedFrame, codec: VideoCodecKind) {
    self.init(keyFrame: frame.payload.span, codec: codec)
    rotation = frame.rotation
  }

  /// Reads a key frame's bytes; Annex B for H.264 and H.265.
  public init?(keyFrame bytes: RawSpan, codec: VideoCodecKind) {
    self.codec = codec
    var sets: [UInt8] = []
    let size: (width: Int, height: Int)?
    switch codec {
    case .vp8: size = Self.vp8Size(bytes)
    case .vp9: size = Self.vp9Size(bytes)
    case .av1: size = Self.readAV1(bytes, &sets)
    case .h264: size = Self.readH264(bytes, &sets)
    case .h265: size = Self.readH265(bytes, &sets)
    }
    guard let size, (1...65_535).contains(size.width), (1...65_535).contains(size.height),
      sets.count <= Self.maximumParameterSets
    else { return nil }
    width = size.width
    height = size.height
    parameterSets = sets
  }

  /// RFC 6386 §9.1.
  private static func vp8Size(_ bytes: RawSpan) -> (Int, Int)? {
    guard bytes.byteCount >= 10, bytes.u8(0) & 1 == 0, bytes.u24(3) == 0x9D_012A else { return nil }
    return (
      (Int(bytes.u8(6)) | Int(bytes.u8(7)) << 8) & 0x3FFF,
      (Int(bytes.u8(8)) | Int(bytes.u8(9)) << 8) & 0x3FFF
    )
  }

  /// VP9 bitstream specification §6.2; profile 0, which is what is negotiated. Of a picture of several layers the lowest's size.
  private static func vp9Size(_ bytes: RawSpan) -> (Int, Int)? {
    var bits = BitReader(bytes)
    // frame_marker, profile; then no existing frame, a key frame, show_frame and error_resilient_mode.
    guard bits.read(2) == 2, bits.read(2) == 0, bits.read(2) == 0 else { return nil }
    bits.skip(2)
    guard bits.read(24) == 0x49_83_42 else { return nil }
    // RGB takes another profile.
    guard bits.read(3) != 7 else { return nil }
    bits.skip(1)
    let size = (Int(bits.read(16)) + 1, Int(bits.read(16)) + 1)
    return bits.isExhausted ? nil : size
  }

  /// AV1 bitstream specification §5.3: the first sequence header.
  private static func readAV1(_ bytes: RawSpan, _ sets: inout [UInt8]) -> (Int, Int)? {
    var reader = ByteReader(bytes)
    while let header = reader.u8() {
      // The forbidden bit.
      guard header & 0x80 == 0 else { return nil }
      var more: UInt8?
      if header & 0x04 != 0 {
        more = reader.u8()
        guard more != nil else { return nil }
      }
      var size = reader.remaining
      if header & 0x02 != 0 {
        guard let told = reader.leb128(), told <= reader.remaining else { return nil }
        size = told
      }
      let payload = bytes.part(reader.offset, size)
      guard reader.skip(size) else { return nil }
      guard header >> 3 & 15 == 1 else { continue }
      guard let sequence = AV1SequenceHeader(payload) else { return nil }
      // With its size, and without an extension, which is what a file's header has.
      sets = [header & 0x78 | 0x02]
      sets.appendLEB128(size)
      sets.append(payload)
      return (sequence.width, sequence.height)
    }
    return nil
  }

  private static func readH264(_ bytes: RawSpan, _ sets: inout [UInt8]) -> (Int, Int)? {
    var units = AnnexBUnits(bytes)
    var size: (Int, Int)?
    var hasPictureSet = false
    while let unit = units.nextUnit() {
      switch H264NALUnitType(unit.u8(0)) {
      case .sequenceParameterSet:
        guard let set = try? H264SequenceParameterSet(unit) else { return nil }
        size = (set.width, set.height)
        sets.appendUnit(unit)
      case .pictureParameterSet:
        hasPictureSet = true
        sets.appendUnit(unit)
      default: break
      }
    }
    return hasPictureSet ? size : nil
  }

  private static func readH265(_ bytes: RawSpan, _ sets: inout [UInt8]) -> (Int, Int)? {
    var units = AnnexBUnits(bytes)
    var size: (Int, Int)?
    var found: Set<UInt8> = []
    while let unit = units.nextUnit() {
      guard let header = H265NALUnitHeader(unit), header.type.isParameterSet,
        header.layerID == 0
      else { continue }
      if header.type == .sequenceParameterSet {
        guard let set = try? H265SequenceParameterSet(unit) else { return nil }
        size = (set.width, set.height)
      }
      found.insert(header.type.rawValue)
      sets.appendUnit(unit)
    }
    return found.count == 3 ? size : nil
  }
}

extension [UInt8] {
  /// Appends a NAL unit behind a start code.
  fileprivate mutating func appendUnit(_ unit: RawSpan) {
    append(contentsOf: [0, 0, 0, 1])
    append(unit)
  }

  fileprivate mutating func append(_ bytes: RawSpan) {
    for offset in 0..<bytes.byteCount { append(bytes.u8(offset)) }
  }

  /// Appends a size as AV1 writes it.
  fileprivate mutating func appendLEB128(_ value: Int) {
    var rest = value
    repeat {
      append(UInt8(truncatingIfNeeded: rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
  }
}
