import SoraSDP

/// What the peer's sections say of the tracks it sends.
extension JSEPNegotiator {
  /// Takes over the sources of an encoding that had to give way to the peer's (RFC 3550 §8.2), for the next description.
  func setSources(_ ssrc: UInt32, rtx: UInt32?, rid: String?, transceiverID: Int) {
    guard let transceiver = transceivers.first(where: { $0.id == transceiverID }),
      let index = transceiver.sender.encodings.firstIndex(where: { $0.rid == rid })
    else { return }
    transceiver.sender.encodings[index].ssrc = ssrc
    if let rtx { transceiver.sender.encodings[index].rtxSSRC = rtx }
  }

  /// Notes what the peer's section says about the track it sends.
  func updateReceiver(_ transceiver: JSEPTransceiver, _ section: MediaDescription) {
    transceiver.isRemoteSending = section.direction.sends && !section.isRejected
    guard transceiver.isRemoteSending else {
      transceiver.receiver.streamIDs = []
      return
    }
    let msids = section.announcedMsids
    var seen: Set<String> = []
    transceiver.receiver.streamIDs = msids.prefix(16).map(\.stream)
      .filter { $0 != "-" && seen.insert($0).inserted }
    if msids.isEmpty, let stream = configuration.defaultStreamID {
      transceiver.receiver.streamIDs = [stream]
    }
    if let track = msids.first?.track { transceiver.receiver.trackID = track }
  }

  /// Tells what has changed of the tracks that the peer sends.
  func publishRemoteTracks() {
    let sending = transceivers.filter { $0.isRemoteSending && !$0.isStopped }
      .sorted { ($0.mLineIndex ?? .max) < ($1.mLineIndex ?? .max) }
    let now = sending.map {
      RemoteTrack(
        transceiver: $0, trackID: $0.receiver.trackID, streamIDs: $0.receiver.streamIDs)
    }
    for event in remoteTracks.update(to: now) { emit(event) }
  }
}
