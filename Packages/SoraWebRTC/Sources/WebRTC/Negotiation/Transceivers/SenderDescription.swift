import SoraSDP

/// One encoding that a sender sends: the whole track, or one simulcast layer of it.
public struct SendEncoding: Sendable, Hashable {
  /// nil where there is one encoding only.
  public var rid: String?
  /// Whether the application sends it; where it doesn't, SDP says `~rid`.
  public var isActive: Bool
  public internal(set) var ssrc: UInt32
  public internal(set) var rtxSSRC: UInt32
  /// nil until FlexFEC is described for it.
  public internal(set) var repairSSRC: UInt32?
}

/// The sending half of a transceiver, as far as SDP speaks of it.
public struct SenderDescription: Sendable, Hashable {
  /// Whether a track is attached. Without one the section may still be negotiated for sending.
  public internal(set) var hasTrack: Bool
  /// The id of the track, or one made up for the time when there is none.
  public internal(set) var trackID: String
  public internal(set) var streamIDs: [String]
  /// At least one. More than one is simulcast, lowest first as the peer or the application listed them.
  public internal(set) var encodings: [SendEncoding]
}

extension SenderDescription {
  /// The streams of the track (RFC 9429 §5.2.1); `-` says that it is in none (RFC 8830 §2).
  var msids: [SDPMsid] {
    (streamIDs.isEmpty ? ["-"] : streamIDs).map { SDPMsid(stream: $0, track: trackID) }
  }

  /// Says whether the application sends an encoding. False where there is none.
  mutating func setEncoding(rid: String?, isActive: Bool) -> Bool {
    guard let index = index(rid: rid) else { return false }
    encodings[index].isActive = isActive
    return true
  }

  /// Takes over the sources of an encoding that had to give way to the peer's (RFC 3550 §8.2).
  mutating func setSources(_ ssrc: UInt32, rtx: UInt32?, rid: String?) {
    guard let index = index(rid: rid) else { return }
    encodings[index].ssrc = ssrc
    if let rtx { encodings[index].rtxSSRC = rtx }
  }

  /// Takes over the layers that the peer wants to receive; those known by rid keep their SSRCs and settings.
  mutating func adopt(_ layers: [SDPSimulcast.Format], new: () -> SendEncoding) {
    guard !layers.isEmpty else { return }
    let old = encodings
    var unnamed = old.first { $0.rid == nil }
    encodings = layers.map { layer in
      if let known = old.first(where: { $0.rid == layer.rid }) { return known }
      var encoding = unnamed ?? new()
      unnamed = nil
      encoding.rid = layer.rid
      encoding.isActive = true
      return encoding
    }
  }

  /// Keeps the layers that both sides agree on. Without any the first encoding alone is sent (WebRTC §4.4.1.6).
  mutating func settle(agreed: Set<String>) {
    let kept = encodings.filter { $0.rid.map { agreed.contains($0) } ?? false }
    if !kept.isEmpty {
      encodings = kept
    } else if var first = encodings.first {
      first.rid = nil
      encodings = [first]
    }
  }

  private func index(rid: String?) -> Int? { encodings.firstIndex { $0.rid == rid } }
}
