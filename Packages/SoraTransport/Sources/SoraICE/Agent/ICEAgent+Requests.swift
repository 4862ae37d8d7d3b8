public import SoraMedia
public import SoraWire

extension ICEAgent {
  /// Takes one STUN datagram. The bytes are lent for the call.
  ///
  /// - Parameters:
  ///   - bytes: the datagram.
  ///   - remote: the address that it came from.
  ///   - local: the base that it came in on: an address added as a candidate's base.
  ///   - now: the present time.
  public func receive(
    _ bytes: RawSpan, from remote: TransportAddress, on local: TransportAddress,
    at now: Instant
  ) {
    guard let message = try? STUNMessage(parsing: bytes) else { return statistics.drop(.malformed) }
    receive(message, parsedFrom: bytes, from: remote, on: local, at: now)
  }

  /// Takes a STUN message that its owner has parsed, as who finds the agent by the message's user name has.
  ///
  /// - Parameters:
  ///   - message: what `bytes` say.
  ///   - bytes: the datagram, lent for the call.
  ///   - remote: the address that it came from.
  ///   - local: the base that it came in on: an address added as a candidate's base.
  ///   - now: the present time.
  public func receive(
    _ message: STUNMessage, parsedFrom bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) {
    advance(to: now)
    guard isActive else { return statistics.drop(.inactive) }
    guard locals.contains(base: local) else { return statistics.drop(.unknownBase) }
    guard message.fingerprint != .invalid else { return statistics.drop(.badFingerprint) }
    guard message.method == STUNMessage.binding else { return statistics.drop(.unexpectedMethod) }
    switch message.messageClass {
    case .request: answer(message, bytes, from: remote, on: local)
    case .success, .error: takeResponse(message, bytes, from: remote, on: local)
    case .indication: break  // A keepalive (RFC 8445 §11): nothing to do, nothing to answer.
    }
  }

  /// RFC 8445 §7.3.
  private func answer(
    _ message: STUNMessage, _ bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress
  ) {
    // Nil for the generation before a restart.
    let claimed: String?
    let key: [UInt8]
    switch generation.credentials.verdict(on: message, bytes) {
    case .current(let ufrag, let ours): (claimed, key) = (ufrag, ours)
    case .previous(let ours): (claimed, key) = (nil, ours)
    case .mixed: return statistics.drop(.staleCandidate)
    case .refused(let reason, let code, let text):
      statistics.drop(reason)
      // The sender is unproven, so it gets few of these.
      guard output.mayAnswerStranger(at: now) else { return statistics.drop(.errorRateLimit) }
      return reply(
        .error, to: message, [.errorCode(code, reason: text)], key: nil, from: remote, on: local)
    }
    statistics.requestsReceived += 1
    let unknown = message.unknownRequiredAttributes
    guard unknown.isEmpty else {
      statistics.drop(.unknownAttribute)
      reply(
        .error, to: message,
        [.errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(unknown)], key: key,
        from: remote, on: local)
      return
    }
    let accept = { [self] in
      reply(.success, to: message, [.xorMappedAddress(remote)], key: key, from: remote, on: local)
    }
    guard let ufrag = claimed else {
      // The pair of before stays alive, and nothing is learnt.
      accept()
      let isOnSelected = selection.pair?.connects(local, remote) ?? false
      if isOnSelected, configuration.isLite { hear() }
      return
    }
    guard resolveRoleConflict(message) else {
      statistics.roleConflicts += 1
      reply(
        .error, to: message, [.errorCode(487, reason: "Role Conflict")], key: key, from: remote,
        on: local)
      return
    }
    accept()
    if let remoteParameters, ufrag != remoteParameters.ufrag {
      return statistics.drop(.staleCandidate)
    }
    guard let pair = pairOfRequest(message, from: remote, on: local, ufrag: ufrag) else { return }
    pair.record.answeredRequest()
    if pair === selection.pair, configuration.isLite { hear() }
    learn(from: message, on: pair)
  }

  private func learn(from message: STUNMessage, on pair: CandidatePair) {
    if configuration.isLite {
      // A lite agent's own direction is proven by nobody; it is publicly reachable by definition (RFC 8445 §2.5).
      pair.state = .succeeded
      if message.usesCandidate { nominate(pair) } else { considerSelecting(pair) }
      return
    }
    if message.usesCandidate, !isControlling {
      // RFC 8445 §7.3.1.5.
      if pair.state == .succeeded { nominate(pair) } else { pair.nominateOnSuccess = true }
    }
    trigger(pair)
  }

  /// RFC 8445 §7.3.1.4.
  private func trigger(_ pair: CandidatePair) {
    switch pair.state {
    case .succeeded: break
    case .inProgress:
      // The section makes a second check; sending the first once more at once proves as much.
      transactions.hasten(pair, at: now, unlessWithin: configuration.checkInterval)
    case .waiting, .frozen, .failed: generation.checklist.trigger(pair)
    }
  }

  /// Returns whether the request may be answered with success (RFC 8445 §7.3.1.1).
  private func resolveRoleConflict(_ message: STUNMessage) -> Bool {
    guard let claim = message.role else { return true }
    switch role.conflict(
      with: claim, isPeerLite: remoteParameters?.isLite == true)
    {
    case .none: return true
    case .theirs: return false
    case .ours:
      statistics.roleConflicts += 1
      switchRole()
      return true
    }
  }

  func switchRole() {
    role.isControlling.toggle()
    nomination = .none
    for pair in generation.checklist.pairs { pair.updatePriority(isControlling: isControlling) }
    if isControlling { considerNominating() }
  }

  private func reply(
    _ messageClass: STUNClass, to request: STUNMessage, _ attributes: [STUNAttribute],
    key: [UInt8]?, from remote: TransportAddress, on local: TransportAddress
  ) {
    statistics.responsesSent += 1
    if messageClass == .error { statistics.errorResponsesSent += 1 }
    let message = STUNMessage(
      messageClass, transactionID: request.transactionID, attributes: attributes)
    send(message.encoded(key: key), from: local, to: remote)
  }
}
