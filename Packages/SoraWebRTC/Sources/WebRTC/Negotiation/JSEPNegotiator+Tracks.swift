import SoraSDP

/// Remote streams and tracks, computed from the peer's msid lines (RFC 9429 §5.10, WebRTC §5.1.1).
extension JSEPNegotiator {
  /// Notes what the peer's section says about the track it sends.
  func updateReceiver(_ transceiver: JSEPTransceiver, _ section: MediaDescription) {
    transceiver.isRemoteSending = section.direction.sends && !section.isRejected
    guard transceiver.isRemoteSending else {
      transceiver.receiver.streamIDs = []
      return
    }
    var msids = section.msids
    if msids.isEmpty {
      // Before a=msid moved to the section, it was an attribute of each source.
      msids = section.sources.lazy.filter { $0.name == "msid" }.prefix(1)
        .compactMap { $0.value.flatMap { SDPMsid(parsing: $0) } }
    }
    var seen: Set<String> = []
    transceiver.receiver.streamIDs = msids.prefix(16).map(\.stream)
      .filter { $0 != "-" && seen.insert($0).inserted }
    if msids.isEmpty, let stream = configuration.defaultStreamID {
      transceiver.receiver.streamIDs = [stream]
    }
    if let track = msids.first?.track { transceiver.receiver.trackID = track }
  }

  /// Tells the difference between what the peer sends now and what was told last.
  ///
  /// Order: tracks that go, streams that lost their last track, tracks that come, streams that are new. So a stream
  /// has all its tracks when it is announced, and none when it is taken back.
  func publishRemoteTracks() {
    let sending = transceivers.filter { $0.isRemoteSending && !$0.isStopped }
      .sorted { ($0.mLineIndex ?? .max) < ($1.mLineIndex ?? .max) }
    let now = sending.map {
      PublishedTrack(
        transceiver: $0, trackID: $0.receiver.trackID, streamIDs: $0.receiver.streamIDs)
    }
    let before = published
    published = now
    func same(_ track: PublishedTrack, in list: [PublishedTrack]) -> PublishedTrack? {
      list.first { $0.transceiver === track.transceiver && $0.trackID == track.trackID }
    }
    for old in before {
      let new = same(old, in: now)
      let left = old.streamIDs.filter { !(new?.streamIDs.contains($0) ?? false) }
      if new == nil || !left.isEmpty {
        emit(.trackRemoved(old.transceiver, streamIDs: left))
      }
    }
    let oldStreams = streams(of: before)
    let newStreams = streams(of: now)
    for stream in oldStreams where !newStreams.contains(stream) {
      emit(.streamRemoved(id: stream))
    }
    for new in now {
      let old = same(new, in: before)
      let joined = new.streamIDs.filter { !(old?.streamIDs.contains($0) ?? false) }
      if old == nil || !joined.isEmpty {
        emit(.trackAdded(new.transceiver, streamIDs: joined))
      }
    }
    for stream in newStreams where !oldStreams.contains(stream) {
      emit(.streamAdded(id: stream))
    }
  }

  /// Each stream once, in the order of its first track.
  private func streams(of tracks: [PublishedTrack]) -> [String] {
    var seen: Set<String> = []
    return tracks.flatMap(\.streamIDs).filter { seen.insert($0).inserted }
  }
}

extension MediaDescription {
  /// The sources that the peer sends from, retransmission paired with what it retransmits (RFC 5576 §4.2, RFC 4588
  /// §8.3). At most 64 are looked at.
  var remoteSources: [RemoteSource] {
    var order: [UInt32] = []
    var names: [UInt32: String] = [:]
    var seen: Set<UInt32> = []
    for source in sources {
      if seen.count < 64, seen.insert(source.ssrc).inserted { order.append(source.ssrc) }
      if source.name == "cname", seen.contains(source.ssrc) { names[source.ssrc] = source.value }
    }
    var repair: [UInt32: UInt32] = [:]
    var secondary: Set<UInt32> = []
    for group in sourceGroups where group.ssrcs.count == 2 {
      // FEC flows are not sources of their own either.
      if group.semantics == "FID" { repair[group.ssrcs[0]] = group.ssrcs[1] }
      if group.semantics == "FID" || group.semantics == "FEC-FR" {
        secondary.insert(group.ssrcs[1])
      }
    }
    return order.filter { !secondary.contains($0) }.map {
      RemoteSource(ssrc: $0, rtxSSRC: repair[$0], cname: names[$0])
    }
  }
}
