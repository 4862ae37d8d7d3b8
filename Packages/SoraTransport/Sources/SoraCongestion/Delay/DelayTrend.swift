/// What arrival times say of the queue on a path (draft-ietf-rmcat-gcc-02 §5.1 to §5.3): packets in groups, the differences of their
/// delays, and whether those rise.
struct DelayTrend {
  /// After a pause the queue is another one.
  private static let longestPause: Int64 = 2_000_000_000

  private var groups = InterArrival()
  private var detector = DelayDetector()
  private var lastArrival: Int64?

  var usage: NetworkUsage { detector.usage }

  /// Takes a packet that has arrived. Whether over-use begins with it.
  mutating func arrived(sent: Int64, at arrival: Int64) -> Bool {
    if let lastArrival, arrival &- lastArrival > Self.longestPause {
      groups = InterArrival()
      detector.reset()
    }
    lastArrival = max(lastArrival ?? arrival, arrival)
    guard let difference = groups.add(sent: sent, arrived: arrival) else { return false }
    let before = detector.usage
    detector.update(difference, arrived: arrival)
    return detector.usage == .overuse && before != .overuse
  }
}
