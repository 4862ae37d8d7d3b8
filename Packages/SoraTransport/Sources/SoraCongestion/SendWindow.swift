import SoraMedia

/// Bounds what is on the way: where packets stay unanswered for longer than a round trip, a queue has them, and more would only
/// lengthen it.
///
/// The delay's trend needs some tenths of a second to notice that a link became narrow; at five times what it carries, each of
/// them is half a second of queue. What is unanswered is known at once. As in libwebrtc's congestion window and RFC 8298 §4.1.2.
/// Plain memory.
public struct SendWindow: Sendable {
  /// What a queue may hold beyond the round trip and the receiver's time between two feedback messages, together.
  private static let allowance: Int64 = 100_000_000
  /// Bytes that may be on the way at any estimate.
  private static let least = 6_000.0
  /// While it is full one packet may leave this often, so that the receiver has something to answer.
  public static let trickle = Duration.milliseconds(200)

  private var sent = 0
  private var answered = 0

  public init() {}

  /// A packet leaves. Returns all bytes up to it, which `answered(upTo:)` takes back.
  public mutating func send(_ size: Int) -> Int {
    sent += size
    return sent
  }

  /// The receiver has said what became of everything up to a packet.
  public mutating func answered(upTo count: Int) { answered = max(answered, count) }

  /// Whether nothing more should be sent for now. The round trip is the shortest of the latest seconds: one's own new queue
  /// isn't in it, others' standing queues and a path that became longer are, soon.
  public func isFull(estimate: Bitrate, roundTrip: Duration) -> Bool {
    let time = max(0, roundTrip.wholeNanoseconds) + Self.allowance
    return Double(sent - answered) > max(Self.least, estimate.bytes(inNanoseconds: time))
  }
}
