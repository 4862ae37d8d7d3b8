import SoraMedia

/// One media section of a connection's descriptions. Its index never changes.
struct SFUSection {
  enum Content {
    case upload(PublishedTrack)
    case forward(SubscribedTrack)
    /// Keeps the transport alive on connections that upload nothing: with every section rejected there would be none.
    case anchor
    case none
  }

  var kind: MediaKind
  var mid: String
  var content: Content
  /// Written with port 0.
  var isStopped = false
  /// Port 0 is agreed: the next track of this kind may take it (RFC 9429 §5.2.2).
  var isRecyclable = false
  /// The codec that a stopped section had, for its format list.
  var codec: SFUCodec
  var types: SFUPayloadTypes.Assignment
  /// Bytes of an offer that it takes where it forwards something, and that its place keeps; of the few others none are counted.
  var size = 0
}

/// The media sections of a connection's descriptions, and what may stand in them.
struct SFUSections {
  /// Bytes of an offer that may be of sections that forward something. Descriptions have 256 KiB at most, as messages of data channels
  /// have, in which each line has two bytes more; a client's answer is no longer than the offer.
  private static let maximumSize = 232 * 1024

  private(set) var all: [SFUSection] = []
  /// Where the section of data channels stands among them in descriptions; nil without one. It never moves.
  private(set) var dataIndex: Int?
  /// One setting of Opus for all sections: a payload type has one meaning, and what a receiver may send matters to nobody here.
  let opus: SFUCodec
  /// Those of a player that has brought the offer.
  var player = PlayerSections()
  var sources = SSRCAllocator()
  private var payloadTypes = SFUPayloadTypes()
  /// Tracks whose section the client has rejected: not offered again.
  private var refusedTracks: Set<String> = []
  /// Tracks that there was no place for.
  private var waitingTracks: Set<String> = []

  init(opus: SFUCodec) { self.opus = opus }

  var indices: Range<Int> { all.indices }

  subscript(index: Int) -> SFUSection { all[index] }

  mutating func assignment(of codec: SFUCodec) -> SFUPayloadTypes.Assignment {
    payloadTypes.assignment(of: codec)
  }

  /// Where another section may stand: in the place of one of its kind that both sides have given up (RFC 9429 §5.2.2), or at the end.
  /// nil where the description would be too long.
  func place(for section: SFUSection) -> Int? {
    let size = all.reduce(section.size) { $0 + $1.size }
    if let free = all.firstIndex(where: { $0.isRecyclable && $0.kind == section.kind }) {
      return size - all[free].size <= Self.maximumSize ? free : nil
    }
    return size <= Self.maximumSize ? all.count : nil
  }

  /// Puts a section where `place(for:)` said, or at the end.
  mutating func put(_ section: SFUSection, at place: Int? = nil) {
    if let place, place < all.count { all[place] = section } else { all.append(section) }
  }

  /// Puts the section of data channels behind the media sections that there are.
  mutating func putData() { dataIndex = all.count }

  /// What a section forwarded is gone. Its place is free once the client has agreed.
  mutating func stop(_ index: Int) {
    all[index].content = .none
    all[index].isStopped = true
    all[index].isRecyclable = false
  }

  /// The client has agreed that a section is stopped.
  mutating func release(_ index: Int) { all[index].isRecyclable = true }

  /// The client doesn't want the track that a section forwards.
  mutating func refuse(_ trackID: String, in index: Int) {
    refusedTracks.insert(trackID)
    stop(index)
    release(index)
  }

  /// Forgets what was turned down of publishers that have gone.
  ///
  /// - Parameter present: the ids of those that are there; asked where anything was turned down.
  mutating func keepRefused(of present: () -> [String]) {
    if !refusedTracks.isEmpty { refusedTracks.formIntersection(present()) }
  }

  /// Notes the tracks that there is no place for.
  ///
  /// - Returns: how many of them haven't waited before.
  mutating func wait(_ tracks: [String]) -> Int {
    let before = waitingTracks
    waitingTracks = Set(tracks)
    return waitingTracks.subtracting(before).count
  }

  /// Whether a place that becomes free is waited for.
  var isWaitedFor: Bool { !waitingTracks.isEmpty }

  var refusedCount: Int { refusedTracks.count }

  func isRefused(_ track: PublishedTrack) -> Bool { refusedTracks.contains(track.trackID) }
}
