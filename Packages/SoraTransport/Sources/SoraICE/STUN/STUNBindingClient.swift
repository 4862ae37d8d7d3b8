public import SoraMedia
public import SoraWire

/// Asks a STUN server which address it sees, and keeps the NAT's binding alive (RFC 8445 §5.1.1, RFC 8489 §6).
///
/// One instance for one local socket and one server. Sans-I/O, confined to its owner.
public final class STUNBindingClient {
  /// Where the asking stands.
  public enum State: Hashable, Sendable {
    case idle
    case asking
    /// The address that the server sees.
    case mapped(TransportAddress)
    case failed(TURNError)
  }

  public let server: TransportAddress
  public private(set) var state = State.idle
  /// Binding requests sent, without retransmissions.
  public private(set) var requestsSent = 0
  public private(set) var responsesReceived = 0

  private let random: RandomSource
  private let rule: STUNRetransmission
  private let keepalive: Duration
  private var pending: STUNPendingRequest?
  private var nextKeepaliveAt: Instant?
  private var outbox: [[UInt8]] = []

  /// - Parameters:
  ///   - server: whom to ask.
  ///   - random: for the identifiers of requests.
  ///   - retransmission: when to ask again.
  ///   - keepalive: the time between requests that keep the binding; Tr of RFC 8445 §11.
  public init(
    server: TransportAddress, random: RandomSource,
    retransmission: STUNRetransmission = .init(), keepalive: Duration = .seconds(15)
  ) {
    self.server = server
    self.random = random
    rule = retransmission
    self.keepalive = keepalive
  }

  /// Sends the first request.
  public func start(at now: Instant) {
    guard state == .idle else { return }
    state = .asking
    ask(at: now)
  }

  private func ask(at now: Instant) {
    let message = STUNMessage(.request, transactionID: STUNTransactionID(random: random))
    let bytes = message.encoded(key: nil)
    requestsSent += 1
    pending = STUNPendingRequest(
      id: message.transactionID, bytes: bytes, isReliable: false, rule, at: now)
    outbox.append(bytes)
  }

  /// Takes a STUN message that came from the server. Returns whether it was an answer to this client; if not, it is somebody else's.
  public func receive(_ bytes: RawSpan, at now: Instant) -> Bool {
    guard let pending, bytes.byteCount >= stunHeaderSize,
      bytes.u32(8) == pending.id.high, bytes.u64(12) == pending.id.low,
      let message = try? STUNMessage(parsing: bytes), message.method == STUNMessage.binding,
      message.messageClass == .success || message.messageClass == .error,
      message.fingerprint != .invalid
    else { return false }
    self.pending = nil
    responsesReceived += 1
    if message.messageClass == .success, let mapped = message.mappedAddress {
      state = .mapped(mapped)
      nextKeepaliveAt = now + keepalive
    } else if case .mapped = state {
      // A keepalive that was refused says nothing about the binding it kept.
      nextKeepaliveAt = now + keepalive
    } else {
      let code = message.errorCode ?? 500
      state = .failed(.refused(code: code, reason: message.errorReason ?? "no mapped address"))
    }
    return true
  }

  /// Sends again what is due, and keeps the binding.
  public func poll(at now: Instant) {
    if var request = pending {
      switch request.advance(to: now, rule) {
      case .nothing: break
      case .sendAgain:
        outbox.append(request.bytes)
        pending = request
      case .giveUp:
        pending = nil
        // An address that was seen once stays a candidate: checks tell whether it works.
        if case .mapped = state {
          nextKeepaliveAt = now + keepalive
        } else {
          state = .failed(.timedOut)
        }
      }
    }
    if let due = nextKeepaliveAt, due <= now {
      nextKeepaliveAt = nil
      ask(at: now)
    }
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? { earliest(pending?.deadline, nextKeepaliveAt) }

  /// The next datagram for the server; `nil` when there is none.
  public func nextTransmit() -> [UInt8]? { outbox.isEmpty ? nil : outbox.removeFirst() }
}
