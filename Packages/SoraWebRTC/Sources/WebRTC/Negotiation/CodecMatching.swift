import SoraMedia
import SoraSDP

/// A codec of the peer's section that is one of ours.
struct CodecMatch {
  var capability: CodecCapability
  var remote: SDPCodec
  /// The peer's payload type for its retransmissions, where both sides want them.
  var retransmission: UInt8?
  /// The parameters we answer with.
  var parameters: FormatParameters

  /// Those of a section's `codecs` that are in `capabilities`, in the order of the section. Each capability matches once.
  static func all(
    in codecs: [SDPCodec], capabilities: [CodecCapability], rules: FormatRules
  ) -> [CodecMatch] {
    var retransmissions: [UInt8: UInt8] = [:]
    for codec in codecs {
      if let media = codec.associatedPayloadType, retransmissions[media] == nil {
        retransmissions[media] = codec.payloadType
      }
    }
    var free = capabilities
    var result: [CodecMatch] = []
    for codec in codecs {
      for (index, capability) in free.enumerated() {
        guard let parameters = capability.answer(to: codec, rules: rules) else { continue }
        result.append(
          CodecMatch(
            capability: capability, remote: codec,
            retransmission: capability.usesRetransmission
              ? retransmissions[codec.payloadType] : nil,
            parameters: parameters))
        free.remove(at: index)
        break
      }
    }
    return result.withUsableRedundancy()
  }

  /// What an answer writes: the peer's payload types, our parameters, the feedback of both.
  var answer: [SDPCodec] {
    var codec = remote
    codec.parameters = parameters
    codec.feedback = remote.feedback.filter { capability.feedback.contains($0) }
    guard let retransmission else { return [codec] }
    return [codec, .retransmission(retransmission, of: codec)]
  }
}

extension JSEPNegotiator {
  /// As many as two descriptions of a small session have; in large ones some are read again.
  private static let rememberedSections = 16

  /// The codecs of `section` that are in `capabilities`. An exchange asks this of the same few sections time and again,
  /// so their lines are read once.
  func matches(in section: MediaDescription, _ capabilities: [CodecCapability]) -> [CodecMatch] {
    let codecs: [SDPCodec]
    if let known = readSections.first(where: { $0.section == section }) {
      codecs = known.codecs
    } else {
      codecs = section.codecs
      if readSections.count == Self.rememberedSections { readSections.removeFirst() }
      readSections.append((section, codecs))
    }
    return CodecMatch.all(in: codecs, capabilities: capabilities, rules: configuration.formatRules)
  }
}

extension SDPCodec {
  /// RFC 4588 §8.6.
  static func retransmission(_ payloadType: UInt8, of codec: SDPCodec) -> SDPCodec {
    SDPCodec(
      payloadType: payloadType, name: "rtx", clockRate: codec.clockRate,
      parameters: ["apt": "\(codec.payloadType)"])
  }
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
struct ExtensionTable {
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
