import SoraMedia
import SoraSignalingMessages

// What forwarding filters keep from this client.
extension SFUConnection {
  /// Whether filters let a medium of another connection through.
  func lets(_ kind: MediaKind, from sender: SFUConnection) -> Bool {
    let (connection, client) = (sender.connectionID, sender.clientID)
    return channel.filters.forwards(kind, connectionID: connection, clientID: client)
      && downlink.filters.forwards(kind, connectionID: connection, clientID: client)
  }

  /// A medium that isn't forwarded.
  struct BlockedTrack: Hashable {
    var kind: MediaKind
    var sender: String
  }

  /// What of the others isn't forwarded because of filters.
  var blockedTracks: Set<BlockedTrack> {
    guard request.role.receives else { return [] }
    var blocked: Set<BlockedTrack> = []
    for member in channel.members
    where member !== self && member.isConnected && member.bundleID != bundleID {
      for track in member.uplink.tracks
      where track.terms.isSending && receives(track.kind) && !lets(track.kind, from: member) {
        blocked.insert(BlockedTrack(kind: track.kind, sender: member.connectionID))
      }
    }
    return blocked
  }

  /// Says what is blocked, and what is allowed again, since filters were others.
  func tellBlocked(since before: Set<BlockedTrack>, at now: Instant) {
    guard isConnected else { return }
    let present = blockedTracks
    for (tracks, type) in [
      (present.subtracting(before), NotifyEventType.forwardingBlocked),
      (before.subtracting(present), NotifyEventType.forwardingAllowed),
    ] {
      for track in tracks.sorted(by: {
        ($0.sender, $0.kind.rawValue) < ($1.sender, $1.kind.rawValue)
      }
      ) {
        let event = NotifyMessage(eventType: type) {
          $0.timestamp = core.timestamp(at: now)
          $0.kind = track.kind.rawValue
          $0.destinationConnectionID = connectionID
          $0.sourceConnectionID = track.sender
        }
        tell(.event(event), at: now)
      }
    }
  }
}
