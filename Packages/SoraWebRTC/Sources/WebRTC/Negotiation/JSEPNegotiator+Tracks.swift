import SoraSDP

/// What the peer's sections say of the tracks it sends.
extension JSEPNegotiator {
  /// Takes over the sources of an encoding that had to give way to the peer's (RFC 3550 §8.2), for the next description.
  func setSources(_ ssrc: UInt32, rtx: UInt32?, rid: String?, transceiverID: Int) {
    transceivers.first { $0.id == transceiverID }?.sender.setSources(ssrc, rtx: rtx, rid: rid)
  }

  /// Notes what the peer's section says about the track it sends.
  func noteReceiver(_ transceiver: JSEPTransceiver, _ section: MediaDescription) {
    transceiver.negotiation.noteReceiver(section, defaultStreamID: configuration.defaultStreamID)
  }

  /// Tells what has changed of the tracks that the peer sends.
  func publishRemoteTracks() {
    let sending = transceivers.filter { $0.negotiation.isRemoteSending && !$0.isStopped }
      .sorted { ($0.mLineIndex ?? .max) < ($1.mLineIndex ?? .max) }
    let now = sending.map {
      RemoteTrack(
        transceiver: $0, trackID: $0.receiver.trackID, streamIDs: $0.receiver.streamIDs)
    }
    for event in remoteTracks.update(to: now) { emit(event) }
  }
}
