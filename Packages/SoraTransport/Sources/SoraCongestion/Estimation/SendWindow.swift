public import SoraMedia

/// Bounds what is on the way: where packets stay unanswered for longer than a round trip, a queue has them, and more would only
/// lengthen it.
///
/// The delay's trend needs some tenths of a second to notice that a link became narrow; at five times what it carries, each of
/// them is half a second of queue. What is unanswered is known at once. As in libwebrtc's congestion window and RFC 8298 §4.1.2.
/// A key frame is more than the window by itself: as long as answers come in time, it may exceed it. Plain memory.
public final class SendWindow {
  /// What a queue may hold beyond the round trip and the receiver's time between two feedback messages, together.
  private static let allowance: Int64 = 70_000_000
  /// More of that where feedback has been lost of late, so that the next one answers for both.
  private static let lossAllowance: Int64 = 100_000_000
  private static let lossMemory = Duration.seconds(10)
  /// Bytes that may be on the way at any estimate.
  private static let least = 6_000.0
  /// While it is full one packet may leave this often, so that the receiver has something to answer.
  public static let trickle = Duration.milliseconds(200)

  /// More of it than is going to be sent, for frames' sizes waver; and of the estimate at least, for a source may have more all of a
  /// sudden.
  private static let usefulShare = 1.1
  private static let leastShare = 0.7

  /// What is going to be sent; nil where that follows the estimate. Where it lies well below it, a link that falls would have the
  /// difference in its queue before anything is known of it.
  public var useful: Bitrate? {
    get { usefulRate }
    set { usefulRate = newValue }
  }
  private var usefulRate: Bitrate?
  private var sent = 0
  private var answered = 0
  private var lossesUntil = Instant.zero
  /// Who was silent for this long has nothing on the way: no queue is as long.
  private static let longestQueue: Int64 = 2_000_000_000
  private var lastSent = Instant.zero
  /// When the first packet that is unanswered left.
  private var oldest = Instant.zero
  /// What `sent` will be when the newest key frame has left.
  private var burstEnd = 0

  public init() {}

  /// Nothing is on the way any more.
  public func forget() {
    (sent, answered, burstEnd, usefulRate) = (0, 0, 0, nil)
    (lossesUntil, lastSent, oldest) = (.zero, .zero, .zero)
  }

  /// A packet leaves. Returns all bytes up to it, which `answered(upTo:)` takes back.
  public func send(_ size: Int, at now: Instant) -> Int {
    if now.nanoseconds(since: lastSent) > Self.longestQueue { answered = sent }
    if answered >= sent { oldest = now }
    lastSent = now
    sent += size
    return sent
  }

  /// The receiver has said what became of everything up to a packet.
  ///
  /// - Parameters:
  ///   - count: what `send` returned for the packet.
  ///   - next: when the packet after it left; nil where there is none yet.
  public func answered(upTo count: Int, next: Instant?) {
    guard count > answered else { return }
    answered = count
    oldest = next ?? lastSent
  }

  /// A key frame is about to leave.
  ///
  /// - Parameter bytes: what waits, the key frame last.
  public func keyFrameWaits(behind bytes: Int) { burstEnd = sent + bytes }

  /// A feedback message was lost on its way.
  public func feedbackLost(at now: Instant) { lossesUntil = now + Self.lossMemory }

  /// Whether so little is unanswered that `isFull` needn't be asked.
  public var isOpen: Bool { Double(sent - answered) <= Self.least }

  /// Whether nothing more should be sent for now. The round trip is the shortest of the latest seconds: one's own new queue
  /// isn't in it, others' standing queues and a path that became longer are, soon.
  public func isFull(estimate: Bitrate, roundTrip: Duration, at now: Instant) -> Bool {
    let allowance = Self.allowance + (now < lossesUntil ? Self.lossAllowance : 0)
    let time = max(0, roundTrip.wholeNanoseconds) + allowance
    let room = bounded(estimate).bytes(inNanoseconds: time)
    guard Double(sent - answered) > max(Self.least, room) else {
      return false
    }
    return answered >= burstEnd || now.nanoseconds(since: oldest) > time
  }

  private func bounded(_ estimate: Bitrate) -> Bitrate {
    guard let useful = usefulRate else { return estimate }
    return min(estimate, max(useful * Self.usefulShare, estimate * Self.leastShare))
  }
}
