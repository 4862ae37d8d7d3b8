import SoraSDP

/// A track that the peer sends, and the streams that it is in.
package struct RemoteTrack {
  package var transceiver: JSEPTransceiver
  package var trackID: String
  package var streamIDs: [String]

  package init(transceiver: JSEPTransceiver, trackID: String, streamIDs: [String]) {
    self.transceiver = transceiver
    self.trackID = trackID
    self.streamIDs = streamIDs
  }

  func isSame(as other: RemoteTrack) -> Bool {
    transceiver === other.transceiver && trackID == other.trackID
  }
}

/// The peer's tracks and streams as the application knows them (RFC 9429 §5.10, WebRTC §5.1.1).
package struct RemoteTracks {
  private var told: [RemoteTrack] = []

  package init() {}

  /// Takes what the peer sends now, and gives back the difference to what was told last.
  ///
  /// Order: tracks that go, streams that lost their last track, tracks that come, streams that are new. So a stream
  /// has all its tracks when it is announced, and none when it is taken back.
  package mutating func update(to now: [RemoteTrack]) -> [NegotiationEvent] {
    let before = told
    told = now
    var events: [NegotiationEvent] = []
    for old in before {
      let new = now.first { $0.isSame(as: old) }
      let left = old.streamIDs.filter { !(new?.streamIDs.contains($0) ?? false) }
      if new == nil || !left.isEmpty {
        events.append(.trackRemoved(old.transceiver, streamIDs: left))
      }
    }
    let oldStreams = Self.streams(of: before)
    let newStreams = Self.streams(of: now)
    for stream in oldStreams where !newStreams.contains(stream) {
      events.append(.streamRemoved(id: stream))
    }
    for new in now {
      let old = before.first { $0.isSame(as: new) }
      let joined = new.streamIDs.filter { !(old?.streamIDs.contains($0) ?? false) }
      if old == nil || !joined.isEmpty {
        events.append(.trackAdded(new.transceiver, streamIDs: joined))
      }
    }
    for stream in newStreams where !oldStreams.contains(stream) {
      events.append(.streamAdded(id: stream))
    }
    return events
  }

  /// Each stream once, in the order of its first track.
  private static func streams(of tracks: [RemoteTrack]) -> [String] {
    var seen: Set<String> = []
    return tracks.flatMap(\.streamIDs).filter { seen.insert($0).inserted }
  }
}

extension MediaDescription {
  /// The streams and the track that a section names; where it has no `a=msid`, those of its first source.
  var announcedMsids: [SDPMsid] {
    let own = msids
    guard own.isEmpty else { return own }
    // Before a=msid moved to the section, it was an attribute of each source.
    return sources.lazy.filter { $0.name == "msid" }.prefix(1)
      .compactMap { $0.value.flatMap { SDPMsid(parsing: $0) } }
  }

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
    var retransmission: [UInt32: UInt32] = [:]
    var repair: [UInt32: UInt32] = [:]
    var secondary: Set<UInt32> = []
    for group in sourceGroups where group.ssrcs.count == 2 {
      // FEC flows are not sources of their own either.
      if group.semantics == "FID" { retransmission[group.ssrcs[0]] = group.ssrcs[1] }
      if group.semantics == "FEC-FR" { repair[group.ssrcs[0]] = group.ssrcs[1] }
      if group.semantics == "FID" || group.semantics == "FEC-FR" {
        secondary.insert(group.ssrcs[1])
      }
    }
    return order.filter { !secondary.contains($0) }.map {
      RemoteSource(
        ssrc: $0, rtxSSRC: retransmission[$0], repairSSRC: repair[$0], cname: names[$0])
    }
  }
}
