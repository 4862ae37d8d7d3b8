/// How a simulated TCP flow's window grows and falls.
public enum SimulatedTCPAlgorithm: Sendable, Hashable {
  /// RFC 5681 and RFC 6582.
  case newReno
  /// RFC 9438.
  case cubic
}

/// How much a simulated TCP flow may have on the way, in segments: NewReno's rules (RFC 5681, RFC 6582) or CUBIC's (RFC 9438).
///
/// A rival for media flows in simulations, with the behaviour of TCP as others build it: so it shares no code with the
/// congestion control of `SoraSCTP`. Plain memory, times in seconds, no libm, so that every machine gets the same bits.
struct TCPWindow {
  /// RFC 9438 §4.1: C, in segments per cubed second, and beta.
  private static let scale = 0.4
  private static let cubicFactor = 0.7
  /// RFC 9438 §4.3: alpha of the part that is as friendly as Reno.
  private static let friendlyGrowth = 3 * (1 - 0.7) / (1 + 0.7)
  /// RFC 6928: ten segments.
  private static let initial = 10.0

  private let algorithm: SimulatedTCPAlgorithm
  private(set) var size = TCPWindow.initial
  private(set) var threshold = Double.infinity
  // RFC 9438 §4.1.2: the window before the latest decrease, when the present epoch began, and what Reno would have.
  private var largest = 0.0
  private var epoch: Double?
  private var epochSize = 0.0
  private var period = 0.0
  private var friendly = 0.0
  private var priorSize = 0.0

  init(_ algorithm: SimulatedTCPAlgorithm) { self.algorithm = algorithm }

  var isSlowStart: Bool { size < threshold }

  /// Segments were acknowledged while the window was used and nothing was missing.
  mutating func acknowledged(_ segments: Double, roundTrip: Double, at now: Double) {
    if isSlowStart {
      size = min(size + segments, max(threshold, size))
      return
    }
    switch algorithm {
    case .newReno: size += segments / size
    case .cubic: growCubic(segments, roundTrip: roundTrip, at: now)
    }
  }

  private mutating func growCubic(_ segments: Double, roundTrip: Double, at now: Double) {
    if epoch == nil {
      epoch = now
      epochSize = size
      friendly = size
      largest = max(largest, size)
      // §4.2: K, the time that the curve takes back to where it was.
      period = Self.cubeRoot((largest - size) / Self.scale)
    }
    // §4.3: beyond the window before the decrease, Reno's own pace.
    let growth = friendly < priorSize ? Self.friendlyGrowth : 1
    friendly += growth * segments / size
    let elapsed = now - (epoch ?? now)
    func curve(_ time: Double) -> Double {
      let distance = time - period
      return Self.scale * distance * distance * distance + largest
    }
    if curve(elapsed) < friendly {
      size = max(size, friendly)
    } else {
      // §4.4: at most half as much again in a round trip.
      let target = min(max(curve(elapsed + roundTrip), size), 1.5 * size)
      size += (target - size) / size * segments
    }
  }

  /// A loss that duplicate or selective acknowledgements show: once for all that was on the way.
  mutating func lost(onTheWay: Double) {
    switch algorithm {
    case .newReno:
      // RFC 5681 §3.2, equation (4). What has come out of order is still unacknowledged, but not on the way.
      threshold = max(min(onTheWay, size) / 2, 2)
    case .cubic:
      noteDecrease()
      threshold = max(size * Self.cubicFactor, 2)
    }
    size = threshold
  }

  /// Nothing was acknowledged for a timeout (RFC 5681 §3.1, RFC 9438 §4.8).
  mutating func timedOut(onTheWay: Double) {
    switch algorithm {
    case .newReno: threshold = max(min(onTheWay, size) / 2, 2)
    case .cubic:
      noteDecrease()
      threshold = max(size * Self.cubicFactor, 2)
    }
    size = 1
  }

  private mutating func noteDecrease() {
    // RFC 9438 §4.7: who lost below where it lost before makes room for others.
    largest = size < largest ? size * (1 + Self.cubicFactor) / 2 : size
    priorSize = size
    epoch = nil
  }

  /// By Newton's method.
  private static func cubeRoot(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    var root = max(1, value / 3)
    for _ in 0..<60 {
      let next = (2 * root + value / (root * root)) / 3
      if abs(next - root) < 1e-9 { break }
      root = next
    }
    return root
  }
}
