import SoraMedia
import SoraWire

/// Understands the payloads of H.264 and H.265, and writes access units with start codes (annex B). Keeps the parameter sets,
/// and puts them in front of key frames that come without.
final class NALDepayloader<Syntax: NALSyntax>: RTPDepayloader {
  private var parameterSets = ParameterSetStore<Syntax>()

  /// `parameterSets` are units that the description brought.
  init(parameterSets units: [[UInt8]] = []) {
    for unit in units { parameterSets.remember(unit.rawSpan) }
  }

  // MARK: One payload

  func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    let headerCount = Syntax.headerCount
    // Units that end a sequence are nothing but a header.
    guard payload.byteCount >= headerCount else {
      throw .truncated(needed: headerCount, available: payload.byteCount)
    }
    let header = Syntax.header(payload)
    guard Syntax.isValid(header) else { throw .malformedPayload(codec: Syntax.codec) }
    var info = RTPPayloadInfo(range: 0..<payload.byteCount)
    info.isFrameEnd = marker
    switch Syntax.kind(Syntax.type(of: header)) {
    case .unsupported:
      throw .unsupportedPayload(codec: Syntax.codec, type: UInt8(Syntax.type(of: header)))
    case .aggregation:
      var units = AggregatedUnits<Syntax>(payload)
      var isFirst = true
      while let range = try units.next() {
        try note(payload.part(range.lowerBound, range.count), isFirst: isFirst, &info)
        isFirst = false
      }
      guard !isFirst else { throw .malformedPayload(codec: Syntax.codec) }
      info.mayBeFrameStart = true
    case .fragment:
      guard payload.byteCount >= headerCount + 1 else {
        throw .truncated(needed: headerCount + 1, available: payload.byteCount)
      }
      try noteFragment(payload, header, &info)
    default:
      try note(payload, isFirst: true, &info)
      info.mayBeFrameStart = true
    }
    info.isKeyFrame = info.parts.isKeyFrame
    return info
  }

  /// Notes what a whole unit says of its frame. The first one of a payload may show that a frame begins here.
  private func note(
    _ unit: RawSpan, isFirst: Bool, _ info: inout RTPPayloadInfo
  ) throws(RTPError) {
    let header = Syntax.header(unit)
    let kind = Syntax.kind(Syntax.type(of: header))
    switch kind {
    case .aggregation, .fragment, .unsupported: throw .malformedPayload(codec: Syntax.codec)
    case .message: if Syntax.hasRecoveryPoint(unit) { info.parts.insert(.recoveryPoint) }
    default: break
    }
    guard Syntax.isValid(header) else { throw .malformedPayload(codec: Syntax.codec) }
    note(kind, header, &info)
    guard isFirst else { return }
    switch kind {
    case .delimiter, .videoParameters, .sequenceParameters: info.isFrameStart = true
    case .randomAccess: info.isFrameStart = Syntax.isFirstSlice(unit)
    default: break
    }
  }

  private func note(_ kind: NALKind, _ header: UInt16, _ info: inout RTPPayloadInfo) {
    switch kind {
    case .slice: info.parts.insert(.picture)
    case .randomAccess: info.parts.insert(.randomAccessPicture)
    case .videoParameters, .pictureParameters: info.parts.insert(.parameterSets)
    case .sequenceParameters:
      info.parts.insert(.parameterSets)
      info.parts.insert(.sequenceParameters)
    default: info.parts.insert(.other)
    }
    if kind.isPicture {
      info.temporalLayer = max(info.temporalLayer, Syntax.temporalLayer(header))
    }
  }

  private func noteFragment(
    _ payload: RawSpan, _ header: UInt16, _ info: inout RTPPayloadInfo
  ) throws(RTPError) {
    let fragment = payload.u8(Syntax.headerCount)
    let type = UInt16(fragment & Syntax.fragmentTypeMask)
    let kind = Syntax.kind(type)
    switch kind {
    case .aggregation, .fragment, .unsupported: throw .malformedPayload(codec: Syntax.codec)
    default: break
    }
    note(kind, header, &info)
    guard fragment & 0x80 != 0 else { return }
    info.mayBeFrameStart = true
    switch kind {
    case .videoParameters, .sequenceParameters: info.isFrameStart = true
    case .randomAccess:
      // What follows the fragmentation header is what follows the unit's header.
      let first = Syntax.headerCount + 1
      info.isFrameStart = payload.byteCount > first && payload.u8(first) & 0x80 != 0
    default: break
    }
  }

  // MARK: One frame

  func append(
    _ payload: RawSpan, info: RTPPayloadInfo, to frame: EncodedBuffer
  ) {
    guard payload.byteCount >= Syntax.headerCount else { return }
    let header = Syntax.header(payload)
    switch Syntax.kind(Syntax.type(of: header)) {
    case .unsupported: return
    case .aggregation:
      spoilOpenUnit(of: frame)
      var units = AggregatedUnits<Syntax>(payload)
      while let range = try? units.next() {
        nalStartCode { frame.append($0) }
        frame.append(payload.part(range.lowerBound, range.count))
      }
    case .fragment: appendFragment(payload, header, to: frame)
    default:
      spoilOpenUnit(of: frame)
      nalStartCode { frame.append($0) }
      frame.append(payload)
    }
  }

  /// `EncodedBuffer.mark` is where the header of the unit lies whose fragments are coming; 0 for none.
  private func appendFragment(
    _ payload: RawSpan, _ header: UInt16, to frame: EncodedBuffer
  ) {
    let headerCount = Syntax.headerCount
    guard payload.byteCount > headerCount else { return }
    let fragment = payload.u8(headerCount)
    let whole = Syntax.header(header, type: UInt16(fragment & Syntax.fragmentTypeMask))
    if fragment & 0x80 != 0 {
      spoilOpenUnit(of: frame)
      nalStartCode { frame.append($0) }
      frame.mark = frame.count
      var bytes: InlineArray<2, UInt8> = [0, 0]
      bytes.withMutableRawSpan { Syntax.write(whole, to: &$0) }
      frame.append(bytes.rawSpan.part(0, headerCount))
    } else {
      // Without its beginning, or behind that of another unit, it is of no use.
      guard frame.mark > 0, frame.mark + headerCount <= frame.count else { return }
      let open = Syntax.header(frame.span.part(frame.mark, headerCount))
      guard Syntax.type(of: open) == Syntax.type(of: whole) else {
        spoilOpenUnit(of: frame)
        return
      }
    }
    frame.append(payload.part(headerCount + 1, payload.byteCount - headerCount - 1))
    if fragment & 0x40 != 0 { frame.mark = 0 }
  }

  /// A unit whose last fragment never came gets the bit that says so (RFC 6184 §5.8, RFC 7798 §4.4.3).
  private func spoilOpenUnit(of frame: EncodedBuffer) {
    guard frame.mark > 0, frame.mark < frame.count else { return }
    let byte: InlineArray<1, UInt8> = [frame.span.u8(frame.mark) | 0x80]
    frame.replace(at: frame.mark, with: byte.rawSpan)
    frame.mark = 0
  }

  func lacksParameterSets(_ frame: EncodedBuffer) -> Bool {
    parameterSets.need(of: frame.span) == .unknown
  }

  func complete(_ frame: EncodedBuffer, parts: RTPFrameParts) -> EncodedBuffer {
    spoilOpenUnit(of: frame)
    var result = frame
    if parts.isKeyFrame,
      case .entries(let first, let second, let third) = parameterSets.need(of: frame.span)
    {
      result = parameterSets.completed(frame, (first, second, third))
    }
    if parts.contains(.parameterSets) { parameterSets.remember(frame: frame.span) }
    return result
  }
}

/// The units of an aggregation packet (RFC 6184 §5.7.1, RFC 7798 §4.4.2).
private struct AggregatedUnits<Syntax: NALSyntax>: ~Escapable {
  private let payload: RawSpan
  private var offset: Int

  @_lifetime(copy payload)
  init(_ payload: RawSpan) {
    self.payload = payload
    offset = Syntax.headerCount
  }

  @_lifetime(self: copy self)
  mutating func next() throws(RTPError) -> Range<Int>? {
    guard offset < payload.byteCount else { return nil }
    guard offset + 2 <= payload.byteCount else {
      throw .truncated(needed: offset + 2, available: payload.byteCount)
    }
    let start = offset + 2
    let size = Int(payload.u16(offset))
    guard size >= Syntax.headerCount, size <= payload.byteCount - start else {
      throw .malformedPayload(codec: Syntax.codec)
    }
    offset = start + size
    return start..<offset
  }
}
