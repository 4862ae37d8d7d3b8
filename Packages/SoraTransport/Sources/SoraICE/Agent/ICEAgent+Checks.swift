import SoraMedia
import SoraWire

extension ICEAgent {
  // MARK: Sending checks (RFC 8445 §7.2)

  /// Whether this side checks pairs, and the peer's credentials are there.
  var isChecking: Bool { generation.search.isChecking && !configuration.isLite }

  func runChecks() {
    guard isChecking else { return }
    while let pair = generation.checklist.nextCheck(at: now) { sendRequest(on: pair, .check) }
  }

  func sendRequest(on pair: CandidatePair, _ purpose: ICETransaction.Purpose) {
    guard let credentials = pair.credentials else { return }
    var attributes: [STUNAttribute] = [
      .username(credentials.username), .priority(pair.reflexivePriority),
      role.attribute,
    ]
    if purpose == .nomination { attributes.append(.useCandidate) }
    let message = STUNMessage(
      .request, transactionID: STUNTransactionID(random: random), attributes: attributes)
    let bytes = message.encoded(key: credentials.key)
    transactions.begin(
      purpose, on: pair, id: message.transactionID, bytes: bytes,
      isControlling: role.isControlling, at: now)
    if purpose == .consent {
      statistics.consentRequestsSent += 1
    } else {
      statistics.requestsSent += 1
    }
    pair.record.sentRequest(forConsent: purpose == .consent)
    send(bytes, from: pair.local.base.address, to: pair.remote.address)
  }

  /// Sends again what has waited long enough, and gives up what was sent often enough (RFC 8445 §14.3).
  func runTransactions() {
    while let due = transactions.next(at: now) {
      switch due {
      case .sendAgain(let transaction):
        statistics.retransmissionsSent += 1
        let pair = transaction.pair
        send(transaction.bytes, from: pair.local.base.address, to: pair.remote.address)
      case .giveUp(let transaction): giveUp(transaction)
      }
    }
  }

  // MARK: Responses (RFC 8445 §7.2.5)

  func takeResponse(
    _ message: STUNMessage, _ bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress
  ) {
    guard let transaction = transactions[message.transactionID] else {
      return statistics.drop(.unknownTransaction)
    }
    let pair = transaction.pair
    guard let credentials = pair.credentials else { return statistics.drop(.unknownTransaction) }
    // RFC 8489 §9.1.4: a response that isn't the peer's is as if it had never come.
    guard message.hasIntegrity else {
      return statistics.drop(
        message.messageClass == .error ? .unauthenticatedError : .badIntegrity)
    }
    guard message.isAuthentic(bytes, key: credentials.key) else {
      return statistics.drop(.badIntegrity)
    }
    transactions.end(transaction)
    // §7.2.5.2.1: a way that answers from elsewhere isn't one.
    guard pair.connects(local, remote) else {
      statistics.drop(.asymmetricResponse)
      if transaction.purpose != .consent { fail(pair) }
      return
    }
    if message.messageClass == .error { return takeError(message, transaction) }
    statistics.responsesReceived += 1
    pair.record.receivedResponse()
    let isMoved = message.mappedAddress.map { $0 != pair.mappedAddress ?? $0 } ?? false
    if let mapped = message.mappedAddress { pair.mappedAddress = mapped }
    measure(transaction)
    if pair === selection.pair {
      statistics.currentRoundTripTime = pair.record.currentRoundTripTime
      publishSelected()
      hear()
    }
    if isMoved, isControlling, pair === selection.pair, pair.isNominated,
      nomination.pair == nil
    {
      // A translator on our side has given us another address: the peer sends to the old one until the new one is nominated too.
      sendRequest(on: pair, .nomination)
    }
    switch transaction.purpose {
    case .check: succeed(pair)
    case .nomination: if isControlling { confirmNomination(of: pair) }
    case .consent: break
    }
  }

  private func measure(_ transaction: ICETransaction) {
    guard let time = transaction.roundTrip(at: now) else { return }
    transaction.pair.record.measured(time)
    statistics.totalRoundTripTime += time
    statistics.roundTripTimeMeasurements += 1
  }

  private func takeError(_ message: STUNMessage, _ transaction: ICETransaction) {
    let pair = transaction.pair
    guard let code = message.errorCode else { return statistics.drop(.unauthenticatedError) }
    switch code {
    case 487:
      // §7.2.5.1. Another response may have turned us round already. A lite agent stays what it is.
      statistics.roleConflicts += 1
      guard !configuration.isLite else { return }
      if transaction.isControlling == role.isControlling {
        // §16.1: a role lost to a tie-breaker calls for another number.
        role.drawTieBreaker(random)
        switchRole()
      }
      guard transaction.purpose != .consent else { return }
      if pair.state == .inProgress || pair.state == .failed {
        generation.checklist.trigger(pair)
      } else {
        considerNominating()
      }
    case 403
    where transaction.purpose == .consent && pair === selection.pair && selection.isCurrent:
      loseConsent()  // RFC 7675 §5.2: consent revoked.
    case 500...599:
      // §7.2.5.2.4 would fail the pair; an overloaded server deserves another try.
      guard transaction.purpose != .consent else { return }
      transactions.resume(transaction)
    default:
      if transaction.purpose != .consent { fail(pair) }
    }
  }

  private func succeed(_ pair: CandidatePair) {
    pair.state = .succeeded
    if !isControlling, pair.nominateOnSuccess {
      nominate(pair)
    } else {
      considerSelecting(pair)
      considerNominating()
    }
  }

  /// A request was never answered.
  private func giveUp(_ transaction: ICETransaction) {
    let pair = transaction.pair
    if transaction.purpose == .nomination, pair === selection.pair,
      !consent.isSilent(at: now)
    {
      // Bad luck on a link that loses much: its consent is fresh. Nominate again.
      nomination.withdraw { _ in true }
      considerNominating()
    } else {
      fail(pair)
    }
  }

  private func fail(_ pair: CandidatePair) {
    generation.checklist.fail(pair)
    transactions.cancelChecks(of: pair)
    nomination.withdraw { $0 === pair }
    considerNominating()
  }
}
