public import SoraMedia
import SoraNAL
import SoraWire

/// Makes frames that are encoded already into what the payload formats take, and reads what sending has to know of them.
///
/// H.264 and H.265 become byte streams with start codes, and key frames without parameter sets get those that came last. Any bytes
/// are taken; what isn't a frame of the codec is refused. Not for apps: it is seen by who asks for it, as the fuzz targets do.
@_spi(Fuzzing) public struct AccessUnits {
  public struct Picture {
    public var payload: EncodedBuffer
    public var isKeyFrame: Bool
    /// False where no other frame refers to this one: it can be left out.
    public var isReferenced = true
    /// Pixels; 0 if unknown.
    public var width = 0
    public var height = 0
    /// Whether frames of the stream may come in another order than they are shown in, as far as it says.
    public var mayBeReordered = false
  }

  public enum Result {
    case picture(Picture)
    /// Parameter sets without a picture: kept for the next key frame.
    case parameterSets
    case unreadable
  }

  /// More than any encoder writes. What goes beyond isn't kept.
  private static let maximumParameterSets = 65_536

  private let kind: VideoCodecKind
  /// The parameter sets that came last, each behind a start code, in the order they came.
  private var kept: [UInt8] = []
  private var size = (width: 0, height: 0)
  private var mayBeReordered = false

  public init(_ kind: VideoCodecKind) { self.kind = kind }

  public mutating func prepare(_ frame: EncodedFrame) -> Result {
    guard frame.payload.count > 0 else { return .unreadable }
    if frame.width > 0, frame.height > 0 { size = (frame.width, frame.height) }
    switch kind {
    case .vp8:
      // RFC 6386 §9.1.
      let bytes = frame.payload.span
      guard bytes.byteCount >= 3 else { return .unreadable }
      let isKeyFrame = bytes.u8(0) & 1 == 0
      if isKeyFrame, bytes.byteCount >= 10 {
        size.width = (Int(bytes.u8(6)) | Int(bytes.u8(7)) << 8) & 0x3FFF
        size.height = (Int(bytes.u8(8)) | Int(bytes.u8(9)) << 8) & 0x3FFF
      }
      return .picture(picture(frame.payload, isKeyFrame: isKeyFrame, frame.layers.isReferenced))
    case .vp9, .av1:
      return .picture(
        picture(frame.payload, isKeyFrame: frame.isKeyFrame, frame.layers.isReferenced))
    case .h264, .h265:
      let payload = Self.byteStream(frame.payload)
      let unit = UnitSummary(payload.span, kind)
      if !unit.parameterSets.isEmpty { keep(unit) }
      if let sequence = unit.sequence {
        size = (sequence.width, sequence.height)
        mayBeReordered = sequence.mayBeReordered
      }
      guard unit.slices > 0 else {
        return unit.parameterSets.isEmpty ? .unreadable : .parameterSets
      }
      guard unit.isKeyFrame, !unit.isComplete else {
        return .picture(picture(payload, isKeyFrame: unit.isKeyFrame, unit.isReferenced))
      }
      // A decoder can't start here without them.
      guard !kept.isEmpty else { return .unreadable }
      return .picture(picture(withParameterSets(payload), isKeyFrame: true, true))
    }
  }

  private func picture(
    _ payload: EncodedBuffer, isKeyFrame: Bool, _ isReferenced: Bool
  ) -> Picture {
    Picture(
      payload: payload, isKeyFrame: isKeyFrame, isReferenced: isReferenced, width: size.width,
      height: size.height, mayBeReordered: mayBeReordered)
  }

  private mutating func keep(_ unit: UnitSummary) {
    // A new sequence's sets take the place of all before; a picture's set alone comes behind them, and counts as the newer one.
    let all = unit.hasSequence ? unit.parameterSets : kept + unit.parameterSets
    guard all.count <= Self.maximumParameterSets, all != kept else { return }
    if !unit.hasSequence, kept.count >= unit.parameterSets.count,
      kept.suffix(unit.parameterSets.count).elementsEqual(unit.parameterSets)
    {
      return
    }
    kept = all
  }

  private func withParameterSets(_ payload: EncodedBuffer) -> EncodedBuffer {
    let bytes = payload.span
    let made = EncodedBuffer(capacity: payload.count + kept.count)
    // An access unit delimiter stays first (H.264 §7.4.1.2.3, H.265 §7.4.2.4.4).
    var units = AnnexBUnits(bytes)
    var rest = 0
    if let first = units.next() {
      let type = bytes.u8(first.lowerBound)
      let isDelimiter =
        kind == .h264
        ? H264NALUnitType(type) == .accessUnitDelimiter
        : H265NALUnitType(rawValue: type >> 1 & 0x3F) == .accessUnitDelimiter
      if isDelimiter { rest = first.upperBound }
    }
    made.append(bytes.part(0, rest))
    made.append(EncodedBuffer(kept).span)
    made.append(bytes.part(from: rest))
    return made
  }

  /// The units of a sample of MP4 or Matroska, each behind four bytes of length (ISO/IEC 14496-15 §4.3.3), with start codes in their
  /// place. What has start codes already stays as it is.
  private static func byteStream(_ payload: EncodedBuffer) -> EncodedBuffer {
    let bytes = payload.span
    var offset = 0
    while offset < bytes.byteCount {
      guard bytes.byteCount - offset > 4 else { return payload }
      let length = Int(bytes.u32(offset))
      guard length > 0, length <= bytes.byteCount - offset - 4 else { return payload }
      offset += 4 + length
    }
    let made = EncodedBuffer(capacity: payload.count)
    let startCode = EncodedBuffer([0, 0, 0, 1])
    offset = 0
    while offset < bytes.byteCount {
      let length = Int(bytes.u32(offset))
      made.append(startCode.span)
      made.append(bytes.part(offset + 4, length))
      offset += 4 + length
    }
    return made
  }
}

/// What the NAL units of an access unit say by their headers.
private struct UnitSummary {
  /// Each behind a start code.
  var parameterSets: [UInt8] = []
  var hasSequence = false
  var slices = 0
  var isKeyFrame = false
  var isReferenced = false
  /// What the last sequence parameter set says.
  var sequence: (width: Int, height: Int, mayBeReordered: Bool)?
  private var hasPictureSet = false
  private var hasVideoSet = false

  /// Whether a decoder can start with it alone.
  var isComplete: Bool { hasSequence && hasPictureSet && hasVideoSet }

  init(_ bytes: RawSpan, _ kind: VideoCodecKind) {
    hasVideoSet = kind == .h264
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() {
      if kind == .h264 { addH264(unit) } else { addH265(unit) }
    }
  }

  private mutating func addH264(_ unit: RawSpan) {
    let first = unit.u8(0)
    guard first & 0x80 == 0, let type = H264NALUnitType(first) else { return }
    switch type {
    case .sequenceParameterSet:
      hasSequence = true
      keep(unit)
      if let set = try? H264SequenceParameterSet(unit) {
        // Where the VUI doesn't say, any profile but the baseline may have B slices (H.264 §A.2).
        let mayBeReordered = set.reordering.map { $0.frames > 0 } ?? (set.profileIDC != 66)
        sequence = (set.width, set.height, mayBeReordered)
      }
    case .pictureParameterSet:
      hasPictureSet = true
      keep(unit)
    case .slice, .slicePartitionA, .instantaneousRefreshSlice:
      slices += 1
      isKeyFrame = isKeyFrame || type == .instantaneousRefreshSlice
      isReferenced = isReferenced || first & 0x60 != 0
    default: break
    }
  }

  private mutating func addH265(_ unit: RawSpan) {
    guard let header = H265NALUnitHeader(unit), header.layerID == 0 else { return }
    switch header.type {
    case .videoParameterSet:
      hasVideoSet = true
      keep(unit)
    case .sequenceParameterSet:
      hasSequence = true
      keep(unit)
      if let set = try? H265SequenceParameterSet(unit) {
        sequence = (set.width, set.height, set.maximumReorderedPictures > 0)
      }
    case .pictureParameterSet:
      hasPictureSet = true
      keep(unit)
    case let type where type.isSlice:
      slices += 1
      isKeyFrame = isKeyFrame || type.isRandomAccess
      // Pictures of a higher temporal layer may refer to one that those of its own don't; in layer 0 alone that is told here.
      isReferenced = isReferenced || !type.isSubLayerNonReference
    default: break
    }
  }

  private mutating func keep(_ unit: RawSpan) {
    parameterSets.append(contentsOf: [0, 0, 0, 1])
    for offset in 0..<unit.byteCount { parameterSets.append(unit.u8(offset)) }
  }
}
