import SoraMedia
import SoraWire

extension TURNClient {
  func send(_ purpose: Purpose, attempt: Int = 0, at now: Instant) {
    var attributes: [STUNAttribute] = []
    let method: UInt16
    switch purpose {
    case .allocate:
      method = TURNMethod.allocate
      attributes = [.requestedTransport(TURNLimits.udp), .lifetime(configuration.lifetime)]
      // RFC 8656 §7.1: without the attribute the server takes IPv4, and old servers don't know it.
      if configuration.family == .ipv6 { attributes.append(.requestedAddressFamily(.ipv6)) }
    case .refresh:
      method = TURNMethod.refresh
      attributes = [.lifetime(configuration.lifetime)]
      if configuration.family == .ipv6 { attributes.append(.requestedAddressFamily(.ipv6)) }
    case .clear, .release:
      method = TURNMethod.refresh
      attributes = [.lifetime(0)]
      if configuration.family == .ipv6 { attributes.append(.requestedAddressFamily(.ipv6)) }
    case .permissions(let addresses):
      method = TURNMethod.createPermission
      // RFC 8656 §10.1: the port is ignored.
      attributes = addresses.map { .xorPeerAddress(TransportAddress(ip: $0, port: 0)) }
    case .channel(let index):
      guard channels.indices.contains(index) else { return }
      method = TURNMethod.channelBind
      attributes = [
        .channelNumber(TURNLimits.firstChannel + UInt16(truncatingIfNeeded: index)),
        .xorPeerAddress(channels[index].peer),
      ]
    }
    if let challenge { attributes += signature(challenge) }
    let message = STUNMessage(
      .request, method: method, transactionID: STUNTransactionID(random: random),
      attributes: attributes)
    let bytes = message.encoded(
      key: challenge?.key, fingerprint: true, integrity: challenge?.integrity ?? .sha1)
    var rule = configuration.retransmission
    // While something is wrong, a server that comes back shall hear of us soon: no more than two messages a second.
    if lease.unansweredSince != nil, purpose == .refresh {
      rule.maximumTimeout = min(rule.maximumTimeout, .milliseconds(500))
    }
    let pending = STUNPendingRequest(
      id: message.transactionID, bytes: bytes, isReliable: configuration.isStream, rule, at: now)
    requests.append(
      Request(
        purpose: purpose, pending: pending, isSigned: challenge != nil, attempt: attempt,
        rule: rule))
    statistics.requestsSent += 1
    outbox.append(bytes)
  }

  // RFC 8489 §9.2.3.2.
  private func signature(_ challenge: Challenge) -> [STUNAttribute] {
    guard let credentials = configuration.credentials else { return [] }
    var attributes: [STUNAttribute] = [
      challenge.hidesUsername
        ? .userhash(credentials.userhash(realm: challenge.realm))
        : .username(Array(credentials.username.utf8)),
      .realm(challenge.realm), .nonce(challenge.nonce),
    ]
    if let algorithm = challenge.algorithm {
      // Both go back, so that nobody between can take the better one off the list unseen.
      attributes += [.passwordAlgorithms(challenge.offered), .passwordAlgorithm(algorithm)]
    }
    return attributes
  }

  /// Sends again what has waited long enough, and gives up what was sent often enough.
  func runRequests(at now: Instant) {
    var abandoned: [Request] = []
    var index = 0
    while index < requests.count {
      switch requests[index].pending.advance(to: now, requests[index].rule) {
      case .nothing: index += 1
      case .sendAgain:
        statistics.retransmissionsSent += 1
        outbox.append(requests[index].pending.bytes)
        index += 1
      case .giveUp: abandoned.append(requests.remove(at: index))
      }
    }
    for request in abandoned { giveUp(request, at: now) }
  }

  private func giveUp(_ request: Request, at now: Instant) {
    switch request.purpose {
    case .allocate: fail(.timedOut)
    case .clear: send(.allocate, at: now)
    case .refresh:
      // There is a minute left until the allocation runs out: the path may come back.
      lease.askAgain(at: now + .seconds(1))
    case .permissions(let addresses):
      for ip in addresses { permissions.askAgain(ip, at: now + .seconds(1)) }
    case .channel(let index):
      guard channels.indices.contains(index) else { return }
      channels[index].refreshAt = now + .seconds(1)
    case .release: break
    }
  }
}
