import SoraMedia
import SoraSDP

// Forward error correction of video: payload types beside those of the codecs.

/// The payload types of repair packets in one description of a video section.
public struct NegotiatedRepair: Sendable, Hashable {
  /// RED (RFC 2198) around ULPFEC (RFC 5109), with RED's retransmissions.
  public struct Uneven: Sendable, Hashable {
    public var red: UInt8
    public var payloadType: UInt8
    /// nil where RED isn't retransmitted.
    public var rtx: UInt8?
  }

  /// nil where it isn't agreed on.
  public var uneven: Uneven?
  /// That of FlexFEC (draft-ietf-payload-flexible-fec-scheme-03); nil where it isn't agreed on.
  public var flexible: UInt8?

  /// Those that a section's codecs have; nil where there are none.
  init?(_ codecs: [SDPCodec]) {
    func type(_ name: String) -> UInt8? {
      codecs.first { isSameText($0.name, name) && $0.clockRate == 90_000 }?.payloadType
    }
    if let red = type("red"), let payloadType = type("ulpfec") {
      let rtx = codecs.first { $0.associatedPayloadType == red }?.payloadType
      // What goes inside RED is sent again inside RED. Where that has no payload type and the codecs have, it would be lost for good.
      if rtx != nil || !codecs.contains(where: { $0.associatedPayloadType != nil }) {
        uneven = Uneven(red: red, payloadType: payloadType, rtx: rtx)
      }
    }
    flexible = type("flexfec-03")
    if uneven == nil, flexible == nil { return nil }
  }

  /// Of this one what the other has, too.
  func common(with other: NegotiatedRepair) -> NegotiatedRepair? {
    var result = self
    if other.uneven == nil { result.uneven = nil }
    if other.uneven?.rtx == nil { result.uneven?.rtx = nil }
    if other.flexible == nil { result.flexible = nil }
    return result.uneven == nil && result.flexible == nil ? nil : result
  }

  /// What an answer writes for the peer's codecs.
  static func answer(to codecs: [SDPCodec]) -> [SDPCodec] {
    guard let repair = NegotiatedRepair(codecs) else { return [] }
    let types = [
      repair.uneven?.red, repair.uneven?.rtx, repair.uneven?.payloadType, repair.flexible,
    ].compactMap { $0 }
    return codecs.filter { types.contains($0.payloadType) }.map { codec in
      var answer = codec
      answer.feedback = []
      return answer
    }
  }
}

extension CodecCapability {
  /// What is offered of repair packets where they are offered at all; RED's retransmissions have its payload type's neighbour.
  static let repair = [
    CodecCapability(
      kind: .video, name: "red", clockRate: 90_000, usesRetransmission: true,
      preferredPayloadType: 122),
    CodecCapability(kind: .video, name: "ulpfec", clockRate: 90_000, preferredPayloadType: 125),
    // RFC 8627 §5.1.1 counts it in microseconds.
    CodecCapability(
      kind: .video, name: "flexfec-03", clockRate: 90_000,
      parameters: ["repair-window": "10000000"], preferredPayloadType: 35),
  ]
}
