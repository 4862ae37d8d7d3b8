package import SoraSDP

/// The payload types of a codec and of its retransmissions.
struct PayloadTypePair: Sendable, Hashable {
  var media: UInt8
  var retransmission: UInt8?
}

/// The numbers of the one RTP session that a BUNDLE group is (RFC 9143 §9): payload types, and ids of header extensions.
///
/// A number means the same in all sections and in both directions, so those of the peer's descriptions are learned before we
/// give out our own.
package struct RTPSessionNumbers {
  private var payloadTypes = PayloadTypeTable()
  private var extensionIDs = ExtensionTable()

  package init() {}

  /// Keeps the payload types of a description of ours out of new assignments.
  package mutating func reserve(_ local: SessionDescription) { payloadTypes.reserve(local) }

  /// Takes over the numbers of a description of the peer.
  package mutating func learn(_ remote: SessionDescription) {
    payloadTypes.reserve(remote)
    extensionIDs.learn(remote)
  }

  /// Takes over the payload types that the peer uses for a codec, where none were assigned yet.
  mutating func learn(_ capability: CodecCapability, _ pair: PayloadTypePair) {
    payloadTypes.learn(capability, pair)
  }

  /// The codecs of one section of an offer, each before its retransmissions; those for which no number is free are left out.
  /// `negotiated` are the payload types that the section has already.
  mutating func codecs(
    _ capabilities: [CodecCapability], negotiated: [CodecCapability: PayloadTypePair]
  ) -> [SDPCodec] {
    var codecs: [SDPCodec] = []
    var usedHere: Set<UInt8> = []
    for capability in capabilities {
      let pair = payloadTypes.pair(
        for: capability, negotiated: negotiated[capability], usedHere: &usedHere)
      guard let pair else { continue }
      let codec = SDPCodec(
        payloadType: pair.media, name: capability.name, clockRate: capability.clockRate,
        channels: capability.channels, parameters: capability.parameters,
        feedback: capability.feedback)
      codecs.append(codec)
      if let retransmission = pair.retransmission {
        codecs.append(.retransmission(retransmission, of: codec))
      }
    }
    return codecs
  }

  /// The codecs of a new section of an offer.
  package mutating func codecs(_ capabilities: [CodecCapability]) -> [SDPCodec] {
    codecs(capabilities, negotiated: [:])
  }

  /// The header extensions of one section of an offer; those for which no id is free are left out.
  package mutating func extensions(_ uris: [String]) -> [SDPExtension] {
    uris.compactMap { uri in
      extensionIDs.id(uri).map { SDPExtension(id: UInt16($0), uri: uri) }
    }
  }
}

/// Payload types of the whole session: those in use by anybody, and those that we give to our codecs.
private struct PayloadTypeTable {
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
        known.retransmission = take(after: known.media)
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

  private mutating func take(preferred: UInt8? = nil, after: UInt8? = nil) -> UInt8? {
    // The dynamic range, then what RFC 5761 §4 leaves free beside RTCP (RFC 9429 §5.1.2).
    let wish = preferred ?? after.map { $0 &+ 1 }
    for type in [wish].compactMap({ $0 }) + Array(96...127) + Array(35...63) {
      guard (96...127).contains(type) || (35...63).contains(type), !isReserved[Int(type)] else {
        continue
      }
      isReserved[Int(type)] = true
      return type
    }
    return nil
  }
}

/// Ids of header extensions. One id means one URI in the whole session (RFC 8285 §5, RFC 9143 §9.3).
private struct ExtensionTable {
  private var ids: [String: UInt8] = [:]
  private var isReserved = Array(repeating: false, count: 15)

  /// Takes over the ids of a description of the peer.
  mutating func learn(_ description: SessionDescription) {
    for section in description.media {
      for item in section.extensions where item.id < 15 {
        // An id that already means another URI can't be offered for this one in the same session.
        guard !isReserved[Int(item.id)] else { continue }
        isReserved[Int(item.id)] = true
        if ids[item.uri] == nil { ids[item.uri] = UInt8(item.id) }
      }
    }
  }

  /// The id of a URI; nil where the one-byte range is used up.
  mutating func id(_ uri: String) -> UInt8? {
    if let id = ids[uri] { return id }
    guard let id = (1...14).first(where: { !isReserved[$0] }) else { return nil }
    isReserved[id] = true
    ids[uri] = UInt8(id)
    return UInt8(id)
  }
}
