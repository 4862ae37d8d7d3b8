import SoraMedia
import SoraWire

/// The methods of RFC 8656 §17.
enum TURNMethod {
  static let allocate: UInt16 = 3
  static let refresh: UInt16 = 4
  static let send: UInt16 = 6
  static let data: UInt16 = 7
  static let createPermission: UInt16 = 8
  static let channelBind: UInt16 = 9
}

enum TURNLimits {
  /// IP's number of UDP, in REQUESTED-TRANSPORT.
  static let udp: UInt8 = 17
  /// RFC 8656 §12: 0x4000 to 0x4FFF.
  static let firstChannel: UInt16 = 0x4000
  /// RFC 5766 §11 let clients choose up to here, and some still do.
  static let lastOldChannel: UInt16 = 0x7FFE
  /// RFC 8656 §9.
  static let permissionLifetime = Duration.seconds(300)
  /// RFC 8656 §12.
  static let channelLifetime = Duration.seconds(600)
}

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
    if unansweredSince != nil, purpose == .refresh {
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
      refreshAt = now + .seconds(1)
    case .permissions(let addresses):
      for ip in addresses { permissions[ip]?.refreshAt = now + .seconds(1) }
    case .channel(let index):
      guard channels.indices.contains(index) else { return }
      channels[index].refreshAt = now + .seconds(1)
    case .release: break
    }
  }
}
