import SoraMedia
import SoraRTP

/// One medium that a connection uploads: what arrives is counted, completed by NACK, and handed to the subscribers.
///
/// Confined to its core.
final class PublishedTrack {
  let kind: MediaKind
  /// The section of the publisher's description.
  let mid: String
  let codec: SFUCodec
  let types: SFUPayloadTypes.Assignment
  /// The track's name towards subscribers; the stream's is the publisher's connection id.
  let trackID: String
  let publisherID: String

  /// Whether the publisher's answer says that it sends.
  var isSending = false
  /// Ids of the header extensions as the publisher has answered.
  var extensions = RTPHeaderExtensionMap()
  var sendsNack = false
  var subscriptions: [SubscribedTrack] = []

  /// The source that the publisher sends now; nil before its first packet.
  private(set) var ssrc: UInt32?
  var received: ReceiveStatistics?
  var senderReports: SenderReportTracker
  var nack = NackGenerator()
  /// What was received, with the publisher's header, for retransmission to any subscriber. Video only.
  let history: PacketHistory?
  private var seen = DuplicateFilter()
  /// Losses that no retransmission repaired, as far as a key frame was asked for.
  var givenUp: UInt64 = 0

  var lastKeyFrameRequest: Instant?
  var keyFrameDue: Instant?
  var statistics = Statistics()

  struct Statistics {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var duplicates: UInt64 = 0
    var nacksSent: UInt64 = 0
    var keyFrameRequests: UInt64 = 0
    var sourceChanges: UInt64 = 0
  }

  init(
    codec: SFUCodec, types: SFUPayloadTypes.Assignment, mid: String, publisherID: String,
    trackID: String
  ) {
    kind = codec.kind
    self.mid = mid
    self.codec = codec
    self.types = types
    self.publisherID = publisherID
    self.trackID = trackID
    senderReports = SenderReportTracker(clockRate: codec.clockRate)
    history = codec.kind == .video ? PacketHistory(capacity: 1024) : nil
  }

  /// A new source begins: numbers and reports start over, and subscribers carry on where they were.
  func start(_ ssrc: UInt32) {
    if self.ssrc != nil { statistics.sourceChanges &+= 1 }
    self.ssrc = ssrc
    received = ReceiveStatistics(ssrc: ssrc, clockRate: codec.clockRate)
    senderReports = SenderReportTracker(clockRate: codec.clockRate)
    nack = NackGenerator()
    givenUp = 0
    history?.removeAll()
    seen = DuplicateFilter()
    for subscription in subscriptions { subscription.rebase() }
  }

  /// Whether a packet comes for the first time.
  func isNew(_ sequenceNumber: UInt16) -> Bool {
    if seen.insert(sequenceNumber) { return true }
    statistics.duplicates &+= 1
    return false
  }

  /// Asks for a key frame with the publisher's next poll, but not sooner than the interval after the last one.
  func requestKeyFrame(interval: Duration, at now: Instant) {
    guard kind == .video, isSending else { return }
    guard let last = lastKeyFrameRequest else {
      keyFrameDue = now
      return
    }
    keyFrameDue = earliest(keyFrameDue, max(now, last + interval))
  }
}

/// Remembers which sequence numbers have come, as far back as retransmissions reach.
struct DuplicateFilter {
  private var extender = SequenceNumberExtender()
  /// The number in each place, extended; numbers collide only when they are too old to be told apart.
  private var slots = [Int64](repeating: .min, count: 2048)

  /// Returns false for a number that was inserted before, or is so old that nobody can tell.
  mutating func insert(_ number: UInt16) -> Bool {
    let sequence = extender.extend(number)
    let slot = Int(sequence & 2047)
    guard slots[slot] < sequence else { return false }
    slots[slot] = sequence
    return true
  }
}
