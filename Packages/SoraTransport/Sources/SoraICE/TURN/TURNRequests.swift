import SoraMedia
import SoraWire

/// A client's requests: those that wait for an answer, and those that a busy server is to be asked again.
struct TURNRequests {
  enum Purpose: Hashable {
    case allocate
    /// Gives up what an earlier user of this address and port left behind (437), before `allocate` is tried again.
    case clear
    case refresh
    case permissions([IPAddress])
    case channel(Int)
    case release
  }

  struct Request {
    let purpose: Purpose
    fileprivate(set) var pending: STUNPendingRequest
    let isSigned: Bool
    /// How often it was made anew, for a stale nonce or a busy server.
    let attempt: Int
    fileprivate let rule: STUNRetransmission

    init(
      _ purpose: Purpose, _ pending: STUNPendingRequest, _ rule: STUNRetransmission,
      isSigned: Bool, attempt: Int
    ) {
      self.purpose = purpose
      self.pending = pending
      self.rule = rule
      self.isSigned = isSigned
      self.attempt = attempt
    }
  }

  private var waiting: [Request] = []
  private var retries: [(at: Instant, purpose: Purpose, attempt: Int)] = []

  mutating func add(_ request: Request) { waiting.append(request) }

  /// The request that a message answers.
  func request(answeredBy bytes: RawSpan) -> Request? {
    waiting.first { $0.pending.id.high == bytes.u32(8) && $0.pending.id.low == bytes.u64(12) }
  }

  mutating func remove(_ request: Request) {
    waiting.removeAll { $0.pending.id == request.pending.id }
  }

  /// Nobody waits for the answer any more.
  mutating func remove(_ purpose: Purpose) { waiting.removeAll { $0.purpose == purpose } }

  mutating func removeAll() {
    waiting = []
    retries = []
  }

  /// Sends again what has waited long enough.
  ///
  /// - Returns: those that were sent often enough, and are given up.
  mutating func advance(to now: Instant, send: ([UInt8]) -> Void) -> [Request] {
    var abandoned: [Request] = []
    var index = 0
    while index < waiting.count {
      switch waiting[index].pending.advance(to: now, waiting[index].rule) {
      case .nothing: index += 1
      case .sendAgain:
        send(waiting[index].pending.bytes)
        index += 1
      case .giveUp: abandoned.append(waiting.remove(at: index))
      }
    }
    return abandoned
  }

  /// Asks a busy server again, later.
  mutating func retry(_ request: Request, at instant: Instant) {
    retries.append((instant, request.purpose, request.attempt + 1))
  }

  /// What a busy server is to be asked again now.
  mutating func takeDueRetries(at now: Instant) -> [(purpose: Purpose, attempt: Int)] {
    let due = retries.filter { $0.at <= now }.map { ($0.purpose, $0.attempt) }
    if !due.isEmpty { retries.removeAll { $0.at <= now } }
    return due
  }

  var nextDeadline: Instant? {
    var deadline = retries.map(\.at).min()
    for request in waiting { deadline = earliest(deadline, request.pending.deadline) }
    return deadline
  }
}
