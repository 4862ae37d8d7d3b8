import SoraMedia

/// What a run notes.
struct Recording {
  /// Bytes on the wire in each tenth of a second, by flow.
  private(set) var sent: [[Double]]
  private(set) var received: [[Double]]
  /// The sender's estimate then, bits per second, by flow; zero for TCP.
  private(set) var estimates: [[Double]]
  /// How long a packet would wait in the first bottleneck then.
  private(set) var queues: [Duration] = []
  var sentPackets: [Int]
  var receivedPackets: [Int]
  /// How long the packets of forward media waited in the bottlenecks.
  var delays = Distribution()
  /// The longest wait in any bottleneck.
  private(set) var longestQueue = Duration.zero
  /// The longest time in which every packet had waited for more than 300 ms.
  private(set) var longestCongestion = 0.0
  private var congestedSince: Double?
  private var lastSent: [Int]
  private var lastReceived: [Int]

  init(flows: Int) {
    sent = Array(repeating: [], count: flows)
    received = sent
    estimates = sent
    sentPackets = Array(repeating: 0, count: flows)
    receivedPackets = sentPackets
    lastSent = sentPackets
    lastReceived = sentPackets
  }

  mutating func note(flow: Int, sent bytesSent: Int, received bytesReceived: Int, estimate: Int) {
    estimates[flow].append(Double(estimate))
    sent[flow].append(Double(bytesSent - lastSent[flow]))
    received[flow].append(Double(bytesReceived - lastReceived[flow]))
    lastSent[flow] = bytesSent
    lastReceived[flow] = bytesReceived
  }

  mutating func noteStanding(_ queue: Duration) { queues.append(queue) }

  mutating func noteQueue(_ wait: Duration) { longestQueue = max(longestQueue, wait) }

  mutating func noteLongQueue(_ wait: Duration, at now: Double) {
    guard wait > .milliseconds(300) else {
      congestedSince = nil
      return
    }
    let since = congestedSince ?? now
    congestedSince = since
    longestCongestion = max(longestCongestion, now - since)
  }
}

/// Durations by the millisecond, up to five seconds.
struct Distribution: Sendable {
  private var counts = [Int](repeating: 0, count: 5_001)
  private(set) var total = 0

  mutating func add(_ duration: Duration) {
    counts[min(max(0, Int(duration.inMilliseconds.rounded())), counts.count - 1)] += 1
    total += 1
  }

  mutating func add(_ other: Distribution) {
    for index in counts.indices { counts[index] += other.counts[index] }
    total += other.total
  }

  /// The duration in milliseconds that a share of all don't exceed, 0...1.
  func percentile(_ share: Double) -> Double {
    var left = Int((Double(total) * share).rounded(.up))
    for (milliseconds, count) in counts.enumerated() {
      left -= count
      if left <= 0 { return Double(milliseconds) }
    }
    return 0
  }
}
