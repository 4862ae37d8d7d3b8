import SoraMedia
import SoraWire

/// The parameter sets of one stream, so that pictures can be decoded whose own sets came earlier or in the description
/// (RFC 6184 §8.4, RFC 7798 §7.1). Memory is bounded.
struct ParameterSetStore<Syntax: NALSyntax> {
  private struct Entry {
    var kind: NALKind
    var name: ParameterSetID
    var bytes: [UInt8]
  }

  /// Longer sets aren't remembered: real ones have some dozen bytes, with scaling lists some hundred.
  private static var maximumLength: Int { 4096 }
  private static var maximumCount: Int { 64 }
  private var entries: [Entry] = []

  init() {}

  /// Remembers a unit if it is a parameter set. Allocates only where it is news.
  mutating func remember(_ unit: RawSpan) {
    guard unit.byteCount > Syntax.headerCount, unit.byteCount <= Self.maximumLength else { return }
    let kind = Syntax.kind(Syntax.type(of: Syntax.header(unit)))
    // A set forbidden_zero_bit says that the unit isn't whole.
    guard kind.isParameterSet, unit.u8(0) & 0x80 == 0,
      let name = try? Syntax.identify(unit, kind)
    else { return }
    if let index = find(kind, name.id) {
      guard entries[index].bytes != [UInt8](copying: unit) else { return }
      entries[index] = Entry(kind: kind, name: name, bytes: [UInt8](copying: unit))
      return
    }
    if entries.count == Self.maximumCount { entries.removeFirst() }
    entries.append(Entry(kind: kind, name: name, bytes: [UInt8](copying: unit)))
  }

  /// Remembers the sets in front of a frame's first slice.
  mutating func remember(frame: RawSpan) {
    var units = AnnexBUnits(frame)
    while let unit = units.nextUnit() {
      if Self.kind(unit).isPicture { break }
      remember(unit)
    }
  }

  /// What a frame needs in addition to what is in it.
  enum Need: Equatable {
    case nothing
    /// These entries, in this order; -1 for none.
    case entries(Int, Int, Int)
    /// A set that is neither in the frame nor remembered.
    case unknown
  }

  /// Follows the first slice's picture parameters to the sequence's and, in H.265, the video's.
  func need(of frame: RawSpan) -> Need {
    guard let slice = Self.firstSlice(frame) else { return .nothing }
    guard let picture = try? Syntax.pictureParametersID(ofSlice: slice),
      let (own, sequence) = look(.pictureParameters, picture, in: frame),
      let (above, video) = look(.sequenceParameters, sequence, in: frame)
    else { return .unknown }
    var top = -1
    if video >= 0 {
      guard let (index, _) = look(.videoParameters, video, in: frame) else { return .unknown }
      top = index
    }
    return own < 0 && above < 0 && top < 0 ? .nothing : .entries(top, above, own)
  }

  /// The frame with the entries in front of it.
  func completed(_ frame: EncodedBuffer, _ indices: (Int, Int, Int)) -> EncodedBuffer {
    let all = [indices.0, indices.1, indices.2].filter { entries.indices.contains($0) }
    let count = all.reduce(0) { $0 + entries[$1].bytes.count + 4 }
    let result = EncodedBuffer(capacity: count + frame.count)
    for index in all {
      nalStartCode { result.append($0) }
      let set = entries[index].bytes
      result.append(set.rawSpan)
    }
    result.append(frame.span)
    return result
  }

  /// The entry (-1: the set is in the frame) and the id of the set above.
  private func look(
    _ kind: NALKind, _ id: Int, in frame: RawSpan
  ) -> (entry: Int, parent: Int)? {
    var parent: Int?
    var units = AnnexBUnits(frame)
    while let unit = units.nextUnit() {
      let own = Self.kind(unit)
      if own.isPicture { break }
      if own == kind, let name = try? Syntax.identify(unit, kind), name.id == id {
        parent = name.parent
      }
    }
    if let parent { return (-1, parent) }
    return find(kind, id).map { ($0, entries[$0].name.parent) }
  }

  private func find(_ kind: NALKind, _ id: Int) -> Int? {
    for index in entries.indices where entries[index].kind == kind && entries[index].name.id == id {
      return index
    }
    return nil
  }

  @_lifetime(copy frame)
  private static func firstSlice(_ frame: RawSpan) -> RawSpan? {
    var units = AnnexBUnits(frame)
    while let unit = units.nextUnit() {
      if kind(unit).isPicture { return unit }
    }
    return nil
  }

  private static func kind(_ unit: RawSpan) -> NALKind {
    unit.byteCount < Syntax.headerCount ? .other : Syntax.kind(Syntax.type(of: Syntax.header(unit)))
  }
}

/// Lends the start code that is put in front of every unit.
func nalStartCode(_ body: (RawSpan) -> Void) {
  let code: InlineArray<4, UInt8> = [0, 0, 0, 1]
  body(code.rawSpan)
}
