import SoraSDP

/// The payload types of a codec and of its retransmissions.
struct PayloadTypePair: Sendable, Hashable {
  var media: UInt8
  var retransmission: UInt8?
}

/// Payload types of the whole session: those in use by anybody, and those that we give to our codecs.
struct PayloadTypeTable {
  private var isReserved = Array(repeating: false, count: 128)
  private var assigned: [CodecCapability: PayloadTypePair] = [:]

  /// Keeps the payload types of a description out of new assignments.
  mutating func reserve(_ description: SessionDescription) {
    for section in description.media where section.mediaKind != nil {
      for format in section.formats {
        if let type = UInt8(format), type < 128 { isReserved[Int(type)] = true }
      }
    }
  }

  /// Takes over the payload types that the peer uses for a codec, where none were assigned yet.
  mutating func learn(_ capability: CodecCapability, _ pair: PayloadTypePair) {
    if assigned[capability] == nil { assigned[capability] = pair }
  }

  /// Payload types for a codec in one section. What was negotiated there stays (RFC 9429 §5.2.2); then the
  /// session's assignment; then free numbers. nil where the dynamic range is used up.
  mutating func pair(
    for capability: CodecCapability, negotiated: PayloadTypePair?, usedHere: inout Set<UInt8>
  ) -> PayloadTypePair? {
    for known in [negotiated, assigned[capability]] {
      guard var known, !usedHere.contains(known.media) else { continue }
      if !capability.usesRetransmission {
        known.retransmission = nil
      } else if known.retransmission.map({ usedHere.contains($0) }) ?? true {
        known.retransmission = retransmission(of: capability, known.media, usedHere)
      }
      usedHere.insert(known.media)
      if let retransmission = known.retransmission { usedHere.insert(retransmission) }
      return known
    }
    guard let media = take(preferred: capability.preferredPayloadType) else { return nil }
    let pair = PayloadTypePair(
      media: media, retransmission: capability.usesRetransmission ? take(after: media) : nil)
    if assigned[capability] == nil { assigned[capability] = pair }
    usedHere.insert(pair.media)
    if let retransmission = pair.retransmission { usedHere.insert(retransmission) }
    return pair
  }

  /// The payload type of retransmissions for a codec that has one of its own already: the same each time, whether the peer takes them or
  /// not.
  private mutating func retransmission(
    of capability: CodecCapability, _ media: UInt8, _ usedHere: Set<UInt8>
  ) -> UInt8? {
    guard let pair = assigned[capability], pair.media == media else { return take(after: media) }
    if let known = pair.retransmission, !usedHere.contains(known) { return known }
    let type = take(after: media)
    assigned[capability]?.retransmission = pair.retransmission ?? type
    return type
  }

  private mutating func take(preferred: UInt8? = nil, after: UInt8? = nil) -> UInt8? {
    // A codec's own number of RFC 3551 §6; then the dynamic range, and what RFC 5761 §4 leaves free beside RTCP (RFC 9429 §5.1.2).
    let wish = preferred ?? after.map { $0 &+ 1 }
    for type in [wish].compactMap({ $0 }) + Array(96...127) + Array(35...63) {
      guard (96...127).contains(type) || (35...63).contains(type) || type == preferred && type < 35,
        !isReserved[Int(type)]
      else { continue }
      isReserved[Int(type)] = true
      return type
    }
    return nil
  }
}
