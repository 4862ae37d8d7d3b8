import SoraMedia
import SoraWire

/// Asks an idle path for a sign of life (RFC 9260 §8.3).
struct Heartbeat {
  private let interval: Duration?
  private let patience: Duration
  private let errorLimit: Int?
  private var next: Instant?
  private var pending: (nonce: UInt64, deadline: Instant)?
  private var misses = 0

  init(settings: SCTPConfiguration, at now: Instant) {
    interval = settings.heartbeatInterval
    patience = max(settings.initialRTO, settings.minimumRTO)
    errorLimit = settings.maximumRetransmissions
    next = settings.heartbeatInterval.map { now + $0 }
  }

  var deadline: Instant? { pending?.deadline ?? next }

  enum Action {
    case none
    case send([UInt8])
    case failed
  }

  /// What is due. `isBusy` where data is on the way, which tells as much; `random` spreads the intervals by a half.
  mutating func poll(isBusy: Bool, random: RandomSource, at now: Instant) -> Action {
    guard let interval else { return .none }
    if let waiting = pending, waiting.deadline <= now {
      pending = nil
      misses += 1
      if let errorLimit, misses > errorLimit { return .failed }
      return ask(random, at: now)
    }
    guard pending == nil, let due = next, due <= now else { return .none }
    let spread = interval.wholeNanoseconds / 4
    next =
      now
      + .nanoseconds(
        max(1_000_000, interval.wholeNanoseconds - spread)
          + Int64(random.next() % UInt64(max(1, 2 * spread))))
    return isBusy ? .none : ask(random, at: now)
  }

  /// Takes the nonce of an answer. `true` if it was the one that is awaited.
  mutating func answered(_ nonce: UInt64) -> Bool {
    guard let waiting = pending, waiting.nonce == nonce else { return false }
    pending = nil
    misses = 0
    return true
  }

  private mutating func ask(_ random: RandomSource, at now: Instant) -> Action {
    let nonce = random.next()
    let wait = patience.wholeNanoseconds << Int64(min(misses, 5))
    pending = (nonce, now + .nanoseconds(wait))
    return .send(Heartbeat.chunk(nonce))
  }

  static func chunk(_ nonce: UInt64) -> [UInt8] {
    ChunkBytes.chunk(
      ChunkType.heartbeat,
      ChunkBytes.parameter(ParameterType.heartbeatInfo, [UInt8](bigEndian: nonce)))
  }

  /// The nonce of a HEARTBEAT ACK; `nil` where it isn't one of ours.
  static func nonce(_ value: RawSpan) -> UInt64? {
    guard value.byteCount >= 12, value.u16(0) == ParameterType.heartbeatInfo, value.u16(2) == 12
    else { return nil }
    return value.u64(4)
  }
}
