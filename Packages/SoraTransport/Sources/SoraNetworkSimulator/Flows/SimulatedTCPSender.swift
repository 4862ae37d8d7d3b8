import SoraICE
import SoraMedia
import SoraWire

/// The sending half of a `SimulatedTCPFlow`. Loss is found by the time of
/// leaving (RFC 8985), with selective acknowledgements, or by the timer (RFC 6298).
final class SimulatedTCPSender: SimulatedEndpoint {
  /// RFC 8985 §6.2: packets may overtake each other by this part of a round trip.
  private static let reordering: Int64 = 4
  /// RFC 6298 asks for a second at least; systems take 200 ms.
  private static let leastTimeout: Int64 = 200_000_000
  private static let longestTimeout: Int64 = 60_000_000_000

  private struct Segment {
    var sentAt: Int64
    var isSacked = false
    var isLost = false
    var wasRepeated = false
  }

  /// What is being repaired, up to which segment (RFC 6675 §2: RecoveryPoint).
  private enum Recovery {
    case none
    /// The window stays.
    case fast(until: Int64)
    /// The window starts slowly.
    case afterTimeout(until: Int64)
  }

  private(set) var window: TCPWindow
  private(set) var retransmissions = 0
  private(set) var timeouts = 0
  var onDone: ((Instant) -> Void)?
  private unowned let network: SimulatedNetwork
  private let local: TransportAddress
  private let remote: TransportAddress
  /// What is on the way, from `first` on.
  private var outstanding: [Segment] = []
  private var first: Int64 = 0
  private var end: Int64 = 0
  private var recovery = Recovery.none
  /// When the newest segment left that has come.
  private var newestDelivered: Int64 = .min / 2
  private var timer = RetransmissionTimer(
    least: SimulatedTCPSender.leastTimeout, longest: SimulatedTCPSender.longestTimeout)

  init(
    _ network: SimulatedNetwork, from local: TransportAddress, to remote: TransportAddress,
    algorithm: SimulatedTCPAlgorithm
  ) {
    self.network = network
    self.local = local
    self.remote = remote
    window = TCPWindow(algorithm)
  }

  var isDone: Bool { first >= end }
  private var next: Int64 { first + Int64(outstanding.count) }

  func send(segments: Int64, at now: Instant) {
    end = min(max(end, next) + segments, .max / 2)
    fill(at: now.nanoseconds)
  }

  func stop() { end = min(end, next) }

  // MARK: Acknowledgements

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    guard bytes.count >= 8 else { return }
    let cumulative = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
    guard cumulative >= first, cumulative <= next else { return }
    let before = first
    let wasFull = onTheWay >= Int(window.size) - 1
    var newlyDelivered = take(until: cumulative, at: now.nanoseconds)
    var offset = 8
    while offset + 16 <= bytes.count {
      let from = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self)
      let to = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int64.self)
      newlyDelivered += mark(from: from, to: to)
      offset += 16
    }
    let newlyLost = findLosses()
    switch recovery {
    case .fast(let point), .afterTimeout(let point):
      if first >= point { recovery = .none }
    case .none: break
    }
    if newlyLost > 0, mayGrow {
      recovery = .fast(until: next)
      window.lost(onTheWay: Double(outstanding.count))
    }
    if newlyDelivered > 0, wasFull, mayGrow {
      window.acknowledged(
        Double(newlyDelivered), roundTrip: Double(timer.smoothed) / 1e9, at: now.seconds)
    }
    if first > before { timer.restart(at: now.nanoseconds, isNeeded: !outstanding.isEmpty) }
    fill(at: now.nanoseconds)
    if isDone, before < first { onDone?(now) }
  }

  private var mayGrow: Bool {
    if case .fast = recovery { return false }
    return true
  }

  /// What is acknowledged up to a segment leaves. Returns how many of them weren't known to have come.
  private func take(until cumulative: Int64, at now: Int64) -> Int {
    let count = Int(cumulative - first)
    guard count > 0 else { return 0 }
    var fresh = 0
    for segment in outstanding[..<count] where !segment.isSacked {
      fresh += 1
      newestDelivered = max(newestDelivered, segment.sentAt)
    }
    // RFC 6298 §3: not of segments that were sent twice.
    let last = outstanding[count - 1]
    if !last.wasRepeated, !last.isSacked { timer.sample(now - last.sentAt) }
    outstanding.removeFirst(count)
    first = cumulative
    return fresh
  }

  private func mark(from: Int64, to: Int64) -> Int {
    guard from >= first, to > from, to <= next else { return 0 }
    var fresh = 0
    for number in from..<to where !outstanding[Int(number - first)].isSacked {
      outstanding[Int(number - first)].isSacked = true
      outstanding[Int(number - first)].isLost = false
      newestDelivered = max(newestDelivered, outstanding[Int(number - first)].sentAt)
      fresh += 1
    }
    return fresh
  }

  /// RFC 8985 §6.2: lost is what left clearly before something that has come, sent again or not. Returns how many are newly so.
  private func findLosses() -> Int {
    let patience = timer.smoothed / Self.reordering
    var count = 0
    for index in outstanding.indices {
      let segment = outstanding[index]
      if !segment.isSacked, !segment.isLost, segment.sentAt < newestDelivered - patience {
        outstanding[index].isLost = true
        count += 1
      }
    }
    return count
  }

  // MARK: Sending

  /// RFC 6675 §4: pipe.
  private var onTheWay: Int {
    var count = 0
    for segment in outstanding where !segment.isSacked && !segment.isLost {
      count += 1
    }
    return count
  }

  private func fill(at now: Int64) {
    var room = Int(window.size) - onTheWay
    while room > 0 {
      if let lost = outstanding.firstIndex(where: { $0.isLost }) {
        outstanding[lost] = Segment(sentAt: now, wasRepeated: true)
        retransmissions += 1
        transmit(first + Int64(lost))
      } else if next < end {
        outstanding.append(Segment(sentAt: now))
        transmit(next - 1)
      } else {
        break
      }
      room -= 1
    }
    timer.start(at: now, isNeeded: !outstanding.isEmpty)
  }

  private func transmit(_ number: Int64) {
    network.send(TCPWire.write([number], size: TCPWire.fullSegment), from: local, to: remote)
  }

  // MARK: The timer

  func poll(at now: Instant) {
    guard timer.expires(at: now.nanoseconds) else { return }
    timeouts += 1
    window.timedOut(onTheWay: Double(onTheWay))
    // RFC 6675 §5.1: all that isn't known to have come is sent again, as the window allows.
    for index in outstanding.indices where !outstanding[index].isSacked {
      outstanding[index].isLost = true
    }
    recovery = .afterTimeout(until: next)
    fill(at: now.nanoseconds)
  }

  var nextDeadline: Instant? { timer.deadline.map { Instant(nanoseconds: $0) } }
}

/// RFC 6298. Times in nanoseconds.
private struct RetransmissionTimer {
  let least: Int64
  let longest: Int64
  private(set) var deadline: Int64?
  private(set) var smoothed: Int64 = 0
  private var deviation: Int64 = 0
  private var timeout: Int64 = 1_000_000_000

  init(least: Int64, longest: Int64) {
    self.least = least
    self.longest = longest
  }

  mutating func sample(_ roundTrip: Int64) {
    if smoothed == 0 {
      smoothed = roundTrip
      deviation = roundTrip / 2
    } else {
      deviation += (abs(smoothed - roundTrip) - deviation) / 4
      smoothed += (roundTrip - smoothed) / 8
    }
    timeout = min(max(smoothed + max(4 * deviation, least), least), longest)
  }

  mutating func start(at now: Int64, isNeeded: Bool) {
    if !isNeeded { deadline = nil } else if deadline == nil { deadline = now + timeout }
  }

  mutating func restart(at now: Int64, isNeeded: Bool) {
    deadline = isNeeded ? now + timeout : nil
  }

  /// Whether it has run out; the next time it waits twice as long.
  mutating func expires(at now: Int64) -> Bool {
    guard let deadline, deadline <= now else { return false }
    timeout = min(2 * timeout, longest)
    self.deadline = now + timeout
    return true
  }
}
