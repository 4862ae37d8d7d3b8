import SoraMedia

/// How late packets come, compared with the fastest ones around them; and from that, how long to keep audio back.
///
/// The same idea as libwebrtc's NetEq: the worst relative delay of each half second goes into a histogram whose old
/// entries fade, and the target is a high quantile of it. That remembers some twenty seconds, which is right for jitter; but a queue on the
/// path that has drained isn't jitter, and once nothing has come nearly as late for a while, what did is forgotten. Delays are in nanoseconds.
struct ArrivalDelayEstimator {
  private static let bucket: Int64 = 2_500_000
  private static let bucketCount = 800
  private static let longest = bucket * Int64(bucketCount - 1)
  private static let interval: Int64 = 500_000_000
  private static let window: Int64 = 2_000_000_000
  private static let quantile = 0.98
  private static let forgetFactor = 0.978
  private static let historyLimit = 1_024
  /// Intervals whose worst is below this share of the target, until the target is theirs.
  private static let calmIntervals = 12
  private static let calmShare = 0.4
  /// What is kept back until something is known, a packet, and how many packets tell something.
  private static let firstGuess: Int64 = 20_000_000
  private static let guessedPackets = 10
  /// With fewer intervals a quantile says little.
  private static let firstIntervals = 4
  /// What is kept back at most for what hasn't been seen yet.
  private static let longestUnseen: Int64 = 20_000_000

  /// Transit times (arrival minus media time) that may still become the window's minimum, rising.
  private var candidates: [(arrival: Int64, transit: Int64)] = []
  private var head = 0
  private var histogram = [Double](repeating: 0, count: bucketCount)
  private var intervals = 0
  private var intervalStart: Int64?
  private var intervalWorst: Int64 = 0
  private var quantileDelay: Int64 = bucket
  /// Packets of the first intervals, and the worst of them.
  private var first: (count: Int64, worst: Int64) = (0, 0)
  private var expectsRedundancy = false
  /// Intervals in a row that were calm, and the worst of them.
  private var calm: (count: Int, worst: Int64) = (0, 0)

  init() { candidates.reserveCapacity(2 * Self.historyLimit) }

  mutating func reset() {
    candidates.removeAll(keepingCapacity: true)
    head = 0
    for index in histogram.indices { histogram[index] = 0 }
    intervals = 0
    intervalStart = nil
    intervalWorst = 0
    quantileDelay = Self.bucket
    first = (0, 0)
    expectsRedundancy = false
    calm = (0, 0)
  }

  /// The transit time of the fastest packet of the last two seconds; nil before the first packet.
  var fastestTransit: Int64? { head < candidates.count ? candidates[head].transit : nil }

  /// The delay that nearly all packets keep within.
  var targetDelay: Int64 {
    guard intervals < Self.firstIntervals else { return quantileDelay }
    let isGuess = first.count < Self.guessedPackets || expectsRedundancy
    return max(quantileDelay, worstToExpect, isGuess ? Self.firstGuess : 0)
  }

  /// The worst of the first packets, and a share of it more. Where none of `n` was later than that, up to 3 in `n` of those that follow may
  /// be (the rule of three, with 95 % confidence).
  private var worstToExpect: Int64 {
    first.worst + min(3 * first.worst / max(first.count, 1), Self.longestUnseen)
  }

  /// Says that packets restore the ones before them. Encoders spend bits on that where packets get lost, so the guess stays: to wait for
  /// what a packet restores takes as long.
  mutating func expectRedundancy() { expectsRedundancy = true }

  /// Takes note of a packet. Returns how much later it came than the fastest one.
  @discardableResult
  mutating func add(arrival: Int64, mediaTime: Int64) -> Int64 {
    let transit = arrival &- mediaTime
    while candidates.count > head, let last = candidates.last, last.transit >= transit {
      candidates.removeLast()
    }
    candidates.append((arrival, transit))
    while candidates.count - head > 1,
      arrival &- candidates[head].arrival > Self.window
        || candidates.count - head > Self.historyLimit
    {
      head += 1
    }
    if head > Self.historyLimit / 2 {
      candidates.removeFirst(head)
      head = 0
    }
    let relative = max(0, transit &- candidates[head].transit)
    intervalWorst = max(intervalWorst, relative)
    if intervals < Self.firstIntervals {
      first = (first.count + 1, min(max(first.worst, relative), Self.longest))
    }
    if let start = intervalStart {
      if arrival &- start >= Self.interval {
        closeInterval()
        intervalStart = arrival
      }
    } else {
      intervalStart = arrival
    }
    return relative
  }

  private mutating func noteCalm() {
    guard Double(intervalWorst) < Self.calmShare * Double(quantileDelay) else {
      calm = (0, 0)
      return
    }
    calm = (calm.count + 1, max(calm.worst, intervalWorst))
    guard calm.count >= Self.calmIntervals else { return }
    for index in histogram.indices.dropFirst(Int(calm.worst / Self.bucket) + 1) {
      histogram[index] = 0
    }
    calm = (0, 0)
  }

  private mutating func closeInterval() {
    let index = Int(min(intervalWorst / Self.bucket, Int64(Self.bucketCount - 1)))
    intervals += 1
    // The first intervals weigh more, so that the start of a call doesn't last for half a minute.
    let keep = min(Self.forgetFactor, 1 - 2 / Double(intervals + 1))
    for other in histogram.indices { histogram[other] *= keep }
    histogram[index] += 1 - max(0, keep)
    noteCalm()
    intervalWorst = 0
    var sum = 0.0
    var total = 0.0
    for value in histogram { total += value }
    for (position, value) in histogram.enumerated() {
      sum += value
      if sum >= Self.quantile * total {
        quantileDelay = Int64(position + 1) * Self.bucket
        return
      }
    }
  }
}
