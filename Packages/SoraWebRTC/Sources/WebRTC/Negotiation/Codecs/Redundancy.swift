import SoraRTP
import SoraSDP

// Redundant audio data (RFC 2198): a payload type that carries those of other codecs.

/// How the peer accepts redundant audio in a section.
public struct NegotiatedRedundancy: Sendable, Hashable {
  /// The payload type to send it with.
  public var payloadType: UInt8
  /// Whether the peer lists it before the codec itself, and so would rather have it than not.
  public var isPreferred: Bool

  public init(payloadType: UInt8, isPreferred: Bool) {
    self.payloadType = payloadType
    self.isPreferred = isPreferred
  }

  /// Earlier packets that each packet repeats. By default one for a peer that prefers redundancy; `setting` is for any
  /// that accepts it.
  public func copies(setting: Int?) -> Int { min(max(setting ?? (isPreferred ? 1 : 0), 0), 4) }
}

extension SDPCodec {
  var isRedundancy: Bool { isSameText(name, "red") }

  /// Whether its packets are audio by themselves: neither copies of others nor telephone events.
  var carriesAudio: Bool { !isRedundancy && !isSameText(name, TelephoneEvent.encodingName) }
}

extension [SDPCodec] {
  /// With RED's parameters for the payload type of the codec `name`; without RED where that isn't among them.
  func withRedundancy(of name: String) -> [SDPCodec] {
    let type = first { isSameText($0.name, name) }?.payloadType
    return compactMap { codec in
      guard codec.isRedundancy else { return codec }
      guard let type else { return nil }
      var result = codec
      result.parameters = FormatParameters(entries: [.init(key: "\(type)/\(type)", value: nil)])
      return result
    }
  }
}

extension [CodecMatch] {
  /// Without RED that carries anything but the one codec we have.
  func withUsableRedundancy() -> [CodecMatch] {
    guard contains(where: { $0.remote.isRedundancy }) else { return self }
    let type = first { $0.remote.carriesAudio }?.remote.payloadType
    return filter { match in
      guard match.remote.isRedundancy else { return true }
      let inside = match.remote.redundantPayloadTypes
      return !inside.isEmpty && inside.allSatisfy { $0 == type }
    }
  }
}

extension [NegotiatedCodec] {
  /// The codec to send: the first that carries audio by itself.
  var primary: NegotiatedCodec? {
    first { !isSameText($0.name, "red") && !isSameText($0.name, TelephoneEvent.encodingName) }
  }

  /// The payload type of telephone events on a codec's clock; nil where there is none.
  func telephoneEvents(beside codec: NegotiatedCodec) -> UInt8? {
    first {
      isSameText($0.name, TelephoneEvent.encodingName) && $0.clockRate == codec.clockRate
    }?.payloadType
  }

  /// How redundancy may be sent, where both sides have it.
  var redundancy: NegotiatedRedundancy? {
    guard let index = firstIndex(where: { isSameText($0.name, "red") }) else { return nil }
    return NegotiatedRedundancy(payloadType: self[index].payloadType, isPreferred: index == 0)
  }
}
