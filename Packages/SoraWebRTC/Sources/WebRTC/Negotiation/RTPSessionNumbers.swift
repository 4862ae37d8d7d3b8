package import SoraSDP

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
