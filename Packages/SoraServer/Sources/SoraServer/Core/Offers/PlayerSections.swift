import SoraMedia
import SoraRTP
import SoraTransport

/// One section of a player's offer, which tracks of the channel take one after the other: to the player it is one source all the time, so
/// that nothing has to be negotiated again.
struct PlayerSection {
  let offered: OfferedSection
  let kind: MediaKind
  /// Which of the sections of its kind it is. Those of the same place show one publisher.
  let place: Int
  let sender: RTPTrackSender
  let rtxSSRC: UInt32
  /// What is written of its track.
  let trackID: String
  private(set) var subscription: SubscribedTrack?
  /// Where the stream stands; nil before the first track.
  private(set) var rewriter: PacketRewriter?

  init(
    _ offered: OfferedSection, kind: MediaKind, place: Int, sender: RTPTrackSender,
    rtxSSRC: UInt32, trackID: String
  ) {
    self.offered = offered
    self.kind = kind
    self.place = place
    self.sender = sender
    self.rtxSSRC = rtxSSRC
    self.trackID = trackID
  }

  /// The format in which a track comes; nil where the player has none for it.
  func codec(for track: PublishedTrack) -> OfferedCodec? {
    guard track.kind == kind else { return nil }
    var best: (codec: OfferedCodec, distance: Int)?
    for codec in offered.codecs {
      guard let distance = codec.distance(to: track.codec) else { continue }
      if distance < best?.distance ?? .max { best = (codec, distance) }
    }
    return best?.codec
  }

  /// The formats of the answer: that of the present track first, since some players look no further.
  var answered: [OfferedCodec] {
    let present = subscription?.types
    return offered.codecs.filter { $0.types == present }
      + offered.codecs.filter { $0.types != present }
  }

  /// The track is gone, or another follows.
  mutating func leave() {
    rewriter = subscription?.rewriter
    subscription = nil
  }

  mutating func take(_ subscription: SubscribedTrack) { self.subscription = subscription }
}

/// The sections of a player, and which publisher each shows. Empty on connections that don't play by an offer of their own.
struct PlayerSections {
  private(set) var all: [PlayerSection] = []
  /// What is written of the streams, by place: audio and video of one are played in step.
  private(set) var streams: [String] = []

  var indices: Range<Int> { all.indices }

  subscript(index: Int) -> PlayerSection {
    get { all[index] }
    set { all[index] = newValue }
  }

  /// Which of its kind the next section would be.
  func nextPlace(_ kind: MediaKind) -> Int { all.count { $0.kind == kind } }

  mutating func append(_ section: PlayerSection) { all.append(section) }

  mutating func addStream(_ name: String) { streams.append(name) }

  /// The tracks to show, by section: in each place those of one publisher. That is the first who sends all that the place takes, and is
  /// kept while it does; where there is none, the first who sends any of it.
  ///
  /// - Parameter tracks: what there is, in the order of publishers.
  func choose(_ tracks: [PublishedTrack]) -> [PublishedTrack?] {
    var chosen = [PublishedTrack?](repeating: nil, count: all.count)
    var publishers: [String] = []
    for track in tracks where !publishers.contains(track.publisherID) {
      publishers.append(track.publisherID)
    }
    let shown = streams.indices.map { place in
      all.first { $0.place == place && $0.subscription != nil }?.subscription?.source.publisherID
    }
    for (place, present) in shown.enumerated() {
      let sections = all.indices.filter { all[$0].place == place }
      var best: (publisher: String, tracks: [Int: PublishedTrack])?
      // Who is shown already stays where they are.
      for publisher in publishers where publisher == present || !shown.contains(publisher) {
        var fitting: [Int: PublishedTrack] = [:]
        for index in sections {
          fitting[index] = tracks.first {
            $0.publisherID == publisher && all[index].codec(for: $0) != nil
          }
        }
        let count = best?.tracks.count ?? 0
        let isKept = publisher == present && fitting.count == count && count > 0
        if fitting.count > count || isKept { best = (publisher, fitting) }
      }
      guard let best else { continue }
      for (index, track) in best.tracks { chosen[index] = track }
      publishers.removeAll { $0 == best.publisher }
    }
    return chosen
  }
}
