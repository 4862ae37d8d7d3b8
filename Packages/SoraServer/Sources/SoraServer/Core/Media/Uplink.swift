import SoraMedia
import SoraRTP
import SoraTransport
import SoraWire

/// What a client uploads: its tracks, and which of them a packet is of. Confined to its core.
final class Uplink {
  /// What packets of a source are.
  private enum Source {
    case media(PublishedTrack, PublishedLayer)
    case retransmission(PublishedTrack, PublishedLayer)
    /// Left by its publisher for another.
    case retired
  }

  /// Packets that weren't taken, by reason.
  struct Dropped: Hashable {
    var malformed = 0
    /// No section takes this source, mid or payload type.
    var unknownSource = 0
    var retiredSource = 0
    var tooManySources = 0
    /// Retransmissions that carry nothing: padding, or the original was never known.
    var emptyRetransmission = 0
    /// Came before, as an original or as a retransmission.
    var duplicate = 0
  }

  private static let maximumSources = 64

  private(set) var tracks: [PublishedTrack] = []
  private(set) var dropped = Dropped()
  private var sources: [UInt32: Source] = [:]
  /// Ids of header extensions over all sections, which BUNDLE keeps the same (RFC 8843 §9.2).
  private var extensions = RTPHeaderExtensionMap()

  func add(_ track: PublishedTrack) { tracks.append(track) }

  /// Takes what the client's answer says of a track.
  func apply(_ terms: PublishedTrack.Terms, rids: [String], to track: PublishedTrack) {
    track.apply(terms, rids: rids)
    for kind in RTPHeaderExtensionKind.allCases where extensions[kind] == nil {
      extensions[kind] = terms.extensions[kind]
    }
  }

  /// How the client is told what becomes of its packets.
  var feedback: CongestionFeedbackKind {
    tracks.compactMap(\.terms.feedback).mostPrecise ?? .transportWide
  }

  func end() {
    for track in tracks { track.end() }
  }

  func receiver(ssrc: UInt32) -> RTPTrackReceiver? {
    for track in tracks {
      for layer in track.layers where layer.ssrc == ssrc { return layer.receiver }
    }
    return nil
  }

  /// Takes one plain RTP packet.
  ///
  /// - Parameters:
  ///   - rtcp: is told of what arrives.
  ///   - ecn: how its datagram was marked.
  /// - Returns: the layer and what its subscribers are to be sent: at once of audio, with the layer's run of video; nil where
  ///   nothing is.
  func receive(
    _ packet: UnsafeRawBufferPointer, noting rtcp: RTCPEngine, ecn: ECNCodepoint, at now: Instant
  ) -> (track: PublishedTrack, layer: PublishedLayer, packet: LentPacket)? {
    guard let header = unsafe try? RTPHeader(parsing: packet) else {
      dropped.malformed += 1
      return nil
    }
    let values = unsafe RTPHeaderExtensions(of: header, in: packet, map: extensions)
    rtcp.noteArrival(header, values, packetCount: packet.count, ecn: ecn, at: now)
    guard let source = sources[header.ssrc] ?? learn(header, values, at: now) else {
      dropped.unknownSource += 1
      return nil
    }
    switch source {
    case .media(let track, let layer):
      let types = layer.types
      guard types.isMedia(header.payloadType) || header.payloadType == types.telephone else {
        dropped.unknownSource += 1
        return nil
      }
      layer.receiver?.receive(header, packetCount: packet.count, at: now)
      return unsafe take(packet, header, values, of: layer, track, isRestored: false, at: now)
    case .retransmission(let track, let layer):
      guard header.payloadType == layer.types.rtx,
        let restored = unsafe layer.receiver?.receiveRetransmission(
          header, in: packet, payloadType: layer.types.media, at: now)
      else {
        dropped.emptyRetransmission += 1
        return nil
      }
      return unsafe take(packet, restored, values, of: layer, track, isRestored: true, at: now)
    case .retired:
      dropped.retiredSource += 1
      return nil
    }
  }

  private func take(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    of layer: PublishedLayer, _ track: PublishedTrack, isRestored: Bool, at now: Instant
  ) -> (track: PublishedTrack, layer: PublishedLayer, packet: LentPacket)? {
    guard
      let (uploaded, beginsFrame) = unsafe layer.take(
        packet, header, values, isRestored: isRestored, at: now)
    else {
      dropped.duplicate += 1
      return nil
    }
    if layer.rid != nil {
      if beginsFrame { track.frameCame(on: layer, at: now) }
      if layer.startsKeyFrame(uploaded) { layer.keyFrameCame() }
    }
    return unsafe (track, layer, LentPacket(uploaded: uploaded, bytes: packet))
  }

  /// Finds out what a source is that was never seen. Sections share no payload types, so the payload type decides; a
  /// mid that says otherwise is refused (RFC 8843 §9.2). With simulcast its packets say which layer they are of, or repair
  /// (RFC 8852 §3).
  private func learn(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, at now: Instant
  ) -> Source? {
    if sources.count >= Self.maximumSources {
      sources = sources.filter { if case .retired = $0.value { false } else { true } }
      guard sources.count < Self.maximumSources else {
        dropped.tooManySources += 1
        return nil
      }
    }
    for track in tracks where track.terms.isSending {
      let isMedia = track.types.isMedia(header.payloadType)
      guard isMedia || header.payloadType == track.types.rtx else { continue }
      if let mid = values.mid, mid != RTPExtensionText(track.mid) { return nil }
      let rid = isMedia ? values.rid : values.repairedRid
      guard let layer = track.layer(rid: track.isSimulcast ? rid : nil) else { return nil }
      let source: Source
      if isMedia {
        if let old = layer.ssrc { sources[old] = .retired }
        track.start(header.ssrc, of: layer, at: now)
        source = .media(track, layer)
      } else {
        // As of its media, one at a time.
        for (old, known) in sources {
          if case .retransmission(_, let other) = known, other === layer { sources[old] = .retired }
        }
        source = .retransmission(track, layer)
      }
      sources[header.ssrc] = source
      return source
    }
    return nil
  }
}
