import SoraMedia
package import SoraSDP

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
    return result.withUsableRedundancy().withUsableTelephoneEvents()
  }

  /// The peer's payload types.
  var payloadTypes: PayloadTypePair {
    PayloadTypePair(media: remote.payloadType, retransmission: retransmission)
  }

  /// What an answer writes: the peer's payload types, our parameters, the feedback of both.
  var answer: [SDPCodec] {
    var codec = remote
    codec.parameters = parameters
    codec.feedback = remote.feedback.filter { capability.acceptedFeedback.contains($0) }
    guard let retransmission else { return [codec] }
    return [codec, .retransmission(retransmission, of: codec)]
  }
}

/// The codecs of sections, each read once: an exchange asks for those of the same few sections time and again.
package struct SectionCodecs {
  /// As many as two descriptions of a small session have; in large ones some are read again.
  private static let capacity = 16

  private var read: [(section: MediaDescription, codecs: [SDPCodec])] = []

  package init() {}

  /// The codecs that a section lists.
  package mutating func codecs(of section: MediaDescription) -> [SDPCodec] {
    if let known = read.first(where: { $0.section == section }) { return known.codecs }
    let codecs = section.codecs
    if read.count == Self.capacity { read.removeFirst() }
    read.append((section, codecs))
    return codecs
  }

  /// An exchange is over: the next has other sections.
  package mutating func forget() { read = [] }
}

extension SDPCodec {
  /// RFC 4588 §8.6.
  static func retransmission(_ payloadType: UInt8, of codec: SDPCodec) -> SDPCodec {
    SDPCodec(
      payloadType: payloadType, name: "rtx", clockRate: codec.clockRate,
      parameters: ["apt": "\(codec.payloadType)"])
  }
}
