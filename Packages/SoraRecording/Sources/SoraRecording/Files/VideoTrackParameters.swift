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
  /// What the stream says of its colours; nil where it says nothing.
  public let colorSpace: VideoColorSpace?
  /// Bits of a luma sample: 8, or 10 or 12 where VP9's profile 2, AV1 or H.265 says so.
  public let bitDepth: Int
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
    let picture: Picture?
    switch codec {
    case .vp8: picture = Self.readVP8(bytes)
    case .vp9: picture = Self.readVP9(bytes)
    case .av1: picture = Self.readAV1(bytes, &sets)
    case .h264: picture = Self.readH264(bytes, &sets)
    case .h265: picture = Self.readH265(bytes, &sets)
    }
    guard let picture, (1...65_535).contains(picture.width),
      (1...65_535).contains(picture.height), sets.count <= Self.maximumParameterSets
    else { return nil }
    width = picture.width
    height = picture.height
    colorSpace = picture.colorSpace
    bitDepth = picture.bitDepth
    parameterSets = sets
  }

  /// What a key frame says of its picture.
  private struct Picture {
    var width: Int
    var height: Int
    var colorSpace: VideoColorSpace?
    var bitDepth = 8
  }

  /// RFC 6386 §9.1.
  private static func readVP8(_ bytes: RawSpan) -> Picture? {
    guard bytes.byteCount >= 10, bytes.u8(0) & 1 == 0, bytes.u24(3) == 0x9D_012A else { return nil }
    return Picture(
      width: (Int(bytes.u8(6)) | Int(bytes.u8(7)) << 8) & 0x3FFF,
      height: (Int(bytes.u8(8)) | Int(bytes.u8(9)) << 8) & 0x3FFF)
  }

  /// VP9 bitstream specification §6.2; profiles 0 and 2, which are those of 4:2:0. Of a picture of several layers the lowest's size.
  private static func readVP9(_ bytes: RawSpan) -> Picture? {
    var bits = BitReader(bytes)
    // frame_marker, profile (its low bit first); then no existing frame, a key frame, show_frame and error_resilient_mode.
    guard bits.read(2) == 2, !bits.flag() else { return nil }
    let isDeep = bits.flag()
    guard bits.read(2) == 0 else { return nil }
    bits.skip(2)
    guard bits.read(24) == 0x49_83_42 else { return nil }
    // ten_or_twelve_bit, which profile 0 doesn't have.
    let bitDepth = isDeep ? bits.flag() ? 12 : 10 : 8
    // RGB takes another profile.
    let colorSpace = Int(bits.read(3))
    guard colorSpace != 7 else { return nil }
    let isFullRange = bits.flag()
    let (width, height) = (Int(bits.read(16)) + 1, Int(bits.read(16)) + 1)
    return bits.isExhausted
      ? nil
      : Picture(
        width: width, height: height,
        colorSpace: VideoColorSpace(vp9ColorSpace: colorSpace, isFullRange: isFullRange),
        bitDepth: bitDepth)
  }

  /// AV1 bitstream specification §5.3: the first sequence header.
  private static func readAV1(_ bytes: RawSpan, _ sets: inout [UInt8]) -> Picture? {
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
      return Picture(
        width: sequence.width, height: sequence.height,
        colorSpace: VideoColorSpace(
          matrixCoefficients: sequence.matrixCoefficients, isFullRange: sequence.isFullRange),
        bitDepth: sequence.bitDepth)
    }
    return nil
  }

  private static func readH264(_ bytes: RawSpan, _ sets: inout [UInt8]) -> Picture? {
    var units = AnnexBUnits(bytes)
    var picture: Picture?
    var hasPictureSet = false
    while let unit = units.nextUnit() {
      switch H264NALUnitType(unit.u8(0)) {
      case .sequenceParameterSet:
        guard let set = try? H264SequenceParameterSet(unit) else { return nil }
        picture = Picture(width: set.width, height: set.height, colorSpace: set.colorSpace)
        sets.appendUnit(unit)
      case .pictureParameterSet:
        hasPictureSet = true
        sets.appendUnit(unit)
      default: break
      }
    }
    return hasPictureSet ? picture : nil
  }

  private static func readH265(_ bytes: RawSpan, _ sets: inout [UInt8]) -> Picture? {
    var units = AnnexBUnits(bytes)
    var picture: Picture?
    var found: Set<UInt8> = []
    while let unit = units.nextUnit() {
      guard let header = H265NALUnitHeader(unit), header.type.isParameterSet,
        header.layerID == 0
      else { continue }
      if header.type == .sequenceParameterSet {
        guard let set = try? H265SequenceParameterSet(unit) else { return nil }
        picture = Picture(
          width: set.width, height: set.height, colorSpace: set.colorSpace,
          bitDepth: set.lumaBitDepth)
      }
      found.insert(header.type.rawValue)
      sets.appendUnit(unit)
    }
    return found.count == 3 ? picture : nil
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
