import SoraSDP

/// What descriptions have settled for a transceiver: its media section, and what the peer says there. A rollback returns to an earlier
/// value (RFC 9429 §5.7).
struct TransceiverNegotiation {
  /// Where it is among the media sections (RFC 9429 §3.4.1).
  private enum Place {
    case none
    case section(mid: String, index: Int)
    /// The offer under way takes its section away; it stops with the answer.
    case displaced
  }

  private var place = Place.none
  /// What was negotiated; nil before the first answer and after stopping.
  private(set) var currentDirection: MediaDirection?
  private(set) var receiver: ReceiverDescription
  /// Whether the peer's description says that it sends.
  private(set) var isRemoteSending = false
  /// Payload types that were settled for the section.
  private(set) var payloadTypes: [CodecCapability: PayloadTypePair] = [:]

  init(receiverTrackID: String) { receiver = ReceiverDescription(trackID: receiverTrackID) }

  var mid: String? {
    if case .section(let mid, _) = place { mid } else { nil }
  }

  var mLineIndex: Int? {
    if case .section(_, let index) = place { index } else { nil }
  }

  var isDisplaced: Bool {
    if case .displaced = place { true } else { false }
  }

  // MARK: Sections

  /// A description has this section for it.
  mutating func associate(mid: String, index: Int) { place = .section(mid: mid, index: index) }

  /// An offer has its section for another, or a side has rejected the section.
  mutating func displace() {
    place = .displaced
    isRemoteSending = false
  }

  /// No description speaks of it any longer.
  mutating func dissociate() {
    place = .none
    isRemoteSending = false
    receiver.streamIDs = []
  }

  // MARK: What is said there

  /// Takes what an exchange has agreed on; nil where nothing is sent any more.
  ///
  /// - Returns: whether that is another direction than before.
  @discardableResult
  mutating func setDirection(_ direction: MediaDirection?) -> Bool {
    defer { currentDirection = direction }
    return currentDirection != direction
  }

  /// Notes what the peer's section says about the track it sends.
  ///
  /// - Parameters:
  ///   - section: the peer's.
  ///   - defaultStreamID: the stream of a track for which it names none.
  mutating func noteReceiver(_ section: MediaDescription, defaultStreamID: String?) {
    isRemoteSending = section.direction.sends && !section.isRejected
    guard isRemoteSending else {
      receiver.streamIDs = []
      return
    }
    let msids = section.announcedMsids
    var seen: Set<String> = []
    receiver.streamIDs = msids.prefix(16).map(\.stream)
      .filter { $0 != "-" && seen.insert($0).inserted }
    if msids.isEmpty, let defaultStreamID { receiver.streamIDs = [defaultStreamID] }
    if let track = msids.first?.track { receiver.trackID = track }
  }

  /// Takes over the payload types of codecs that the peer's section has.
  mutating func learn(_ matches: [CodecMatch]) {
    for match in matches { payloadTypes[match.capability] = match.payloadTypes }
  }

  /// The peer's offer names all payload types of its section anew.
  mutating func forgetPayloadTypes() { payloadTypes = [:] }
}
