import SoraMedia
import SoraRTP
import SoraTransport

extension SFUConnection {
  /// Who it is, as what it uploads is offered.
  var publisher: SFUPublisher {
    func codec(_ kind: MediaKind) -> String? {
      uplink.tracks.first { $0.kind == kind && $0.terms.isSending }?.codec.name
    }
    return SFUPublisher(
      channelID: channel.id, sessionID: channel.sessionID, connectionID: connectionID,
      clientID: clientID, videoCodec: codec(.video), audioCodec: codec(.audio))
  }

  /// Puts a packet together with others, where somebody takes frames.
  func assemble(
    _ packet: LentPacket, of layer: PublishedLayer, _ track: PublishedTrack, at now: Instant
  ) {
    guard let take = core.frameTap.handler(of: channel.id),
      let packet = packet.withoutRedundancy(layer.types),
      let assembly = track.obtainAssembly(of: layer, packet.uploaded, at: now)
    else { return }
    let needsKeyFrame = assembly.take(
      packet, reports: layer.receiver?.senderReports, at: now
    ) { take(publisher, $0) }
    if needsKeyFrame { requestKeyFrame(of: layer, at: now) }
  }
}
