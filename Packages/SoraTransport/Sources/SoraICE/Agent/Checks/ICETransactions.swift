package import SoraMedia
package import SoraWire

/// A Binding request on a pair that waits for its response.
package struct ICETransaction {
  package enum Purpose { case check, nomination, consent }

  package let pair: CandidatePair
  package let purpose: Purpose
  /// The role the request claims.
  package let isControlling: Bool
  fileprivate var request: STUNPendingRequest

  package var bytes: [UInt8] { request.bytes }

  /// The time to a response that comes now; nil where which of several transmissions it answers can't be told (Karn and Partridge).
  package func roundTrip(at now: Instant) -> Duration? {
    request.transmissions == 1 ? now - request.firstSent : nil
  }
}

/// Requests that wait for their responses, and when each is sent again or given up (RFC 8445 §14.3).
package struct ICETransactions {
  package enum Due {
    case sendAgain(ICETransaction)
    /// It is none of them any more.
    case giveUp(ICETransaction)
  }

  private var pending: [ICETransaction] = []
  private let checkRule: STUNRetransmission
  private let consentRule: STUNRetransmission

  package init(_ configuration: ICEConfiguration) {
    var rule = STUNRetransmission()
    rule.initialTimeout = configuration.retransmissionTimeout
    rule.maximumTimeout = configuration.maximumRetransmissionTimeout
    rule.transmissions = configuration.maximumTransmissions
    checkRule = rule
    // RFC 7675 §5.1: a consent check isn't sent again; silence is measured elsewhere.
    rule.initialTimeout = configuration.consentTimeout
    rule.transmissions = 1
    consentRule = rule
  }

  private func rule(_ purpose: ICETransaction.Purpose) -> STUNRetransmission {
    purpose == .consent ? consentRule : checkRule
  }

  /// Notes a request that is sent now.
  package mutating func begin(
    _ purpose: ICETransaction.Purpose, on pair: CandidatePair, id: STUNTransactionID,
    bytes: [UInt8], isControlling: Bool, at now: Instant
  ) {
    let request = STUNPendingRequest(
      id: id, bytes: bytes, isReliable: false, rule(purpose), at: now)
    pending.append(
      ICETransaction(
        pair: pair, purpose: purpose, isControlling: isControlling, request: request))
  }

  package subscript(id: STUNTransactionID) -> ICETransaction? {
    pending.first { $0.request.id == id }
  }

  package mutating func end(_ transaction: ICETransaction) {
    guard let index = pending.firstIndex(where: { $0.request.id == transaction.request.id }) else {
      return
    }
    pending.remove(at: index)
  }

  /// Waits on for one that was ended.
  package mutating func resume(_ transaction: ICETransaction) { pending.append(transaction) }

  /// What is due now, and notes that it is done; nil when nothing is left. Ask until nil.
  package mutating func next(at now: Instant) -> Due? {
    var index = 0
    while index < pending.count {
      switch pending[index].request.advance(to: now, rule(pending[index].purpose)) {
      case .nothing: index += 1
      case .sendAgain: return .sendAgain(pending[index])
      case .giveUp:
        let transaction = pending.remove(at: index)
        if transaction.purpose != .consent { return .giveUp(transaction) }
      }
    }
    return nil
  }

  /// When `next` has something; nil for never.
  package var deadline: Instant? {
    var first: Instant?
    for transaction in pending { first = earliest(first, transaction.request.deadline) }
    return first
  }

  /// Has the check of a pair sent again at once, unless it was sent less than `interval` ago.
  package mutating func hasten(
    _ pair: CandidatePair, at now: Instant, unlessWithin interval: Duration
  ) {
    guard let index = pending.firstIndex(where: { $0.pair === pair && $0.purpose == .check }),
      now - pending[index].request.lastSent >= interval
    else { return }
    pending[index].request.hasten(at: now)
  }

  // MARK: What is waited for no longer

  package mutating func cancelAll() { pending = [] }

  /// All on pairs of a base.
  package mutating func cancelAll(on base: TransportAddress) {
    pending.removeAll { $0.pair.local.base.address == base }
  }

  /// All to a candidate of the peer's.
  package mutating func cancelAll(to remote: RemoteCandidate) {
    pending.removeAll { $0.pair.remote === remote }
  }

  /// All but those of consent.
  package mutating func cancelChecks() { pending.removeAll { $0.purpose != .consent } }

  /// All on a pair but those of consent.
  package mutating func cancelChecks(of pair: CandidatePair) {
    pending.removeAll { $0.pair === pair && $0.purpose != .consent }
  }

  /// Checks of pairs that have been left aside since.
  package mutating func cancelChecksOfFrozenPairs() {
    pending.removeAll { $0.purpose == .check && $0.pair.state == .frozen }
  }
}
