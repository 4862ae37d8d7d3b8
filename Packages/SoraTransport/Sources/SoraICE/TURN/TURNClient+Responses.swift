import SoraMedia
import SoraWire

extension TURNClient {
  /// Takes a response. Returns false where it answers nothing of this client's.
  func takeResponse(_ bytes: RawSpan, at now: Instant) -> Bool {
    guard
      let index = requests.firstIndex(where: {
        $0.pending.id.high == bytes.u32(8)
          && $0.pending.id.low == bytes.u64(12)
      })
    else { return false }
    guard let message = try? STUNMessage(parsing: bytes), message.fingerprint != .invalid,
      message.messageClass == .success || message.messageClass == .error
    else {
      statistics.malformed += 1
      return true
    }
    let request = requests[index]
    guard isAuthentic(message, bytes, request) else {
      // RFC 8489 §9.2.5: as if it had never come.
      statistics.unauthentic += 1
      return true
    }
    requests.remove(at: index)
    statistics.responsesReceived += 1
    if message.messageClass == .error {
      takeError(message, of: request, at: now)
    } else {
      takeSuccess(message, of: request, at: now)
    }
    return true
  }

  private func isAuthentic(
    _ message: STUNMessage, _ bytes: RawSpan, _ request: Request
  ) -> Bool {
    guard request.isSigned, let challenge else { return true }
    // Some errors can't be signed: the server doesn't know the key (401, 438), or can't say for whom it is. They take the
    // request's secret transaction identifier to make.
    let isSigned = message.hasIntegrity || message.hasIntegritySHA256
    if message.messageClass == .error, !isSigned { return true }
    return switch challenge.integrity {
    case .sha1: message.isAuthentic(bytes, key: challenge.key)
    // RFC 8489 §9.2.4: a server may still answer with the older attribute.
    case .sha256:
      message.hasIntegritySHA256
        ? message.isAuthenticSHA256(bytes, key: challenge.key)
        : message.isAuthentic(bytes, key: challenge.key)
    }
  }

  // MARK: Success

  private func takeSuccess(_ message: STUNMessage, of request: Request, at now: Instant) {
    switch request.purpose {
    case .allocate: takeAllocation(message, at: now)
    case .clear: send(.allocate, at: now)
    case .refresh:
      guard let lifetime = message.lifetime, lifetime > 0 else { return fail(.allocationLost) }
      lease.granted(lifetime, at: now)
    case .permissions(let addresses):
      for ip in addresses { permissions.install(ip, at: now) }
    case .channel(let index):
      guard channels.indices.contains(index) else { return }
      channels[index].isBound = true
      channels[index].isRefused = false
      // RFC 8656 §12: ten minutes, but its permission only five; the permission has a timer of its own.
      channels[index].refreshAt = now + TURNLimits.channelLifetime - .seconds(60)
    case .release: break
    }
  }

  private func takeAllocation(_ message: STUNMessage, at now: Instant) {
    guard state == .allocating else { return }
    guard let relayed = message.relayedAddress, let lifetime = message.lifetime, lifetime > 0,
      relayed.port != 0, relayed.ip.isV4 == (configuration.family == .ipv4)
    else { return fail(.malformedResponse) }
    state = .allocated(relayed: relayed)
    lease.granted(lifetime, at: now)
    if !configuration.isStream { lease.keepAlive(at: now + configuration.keepalive) }
    events.append(.allocated(relayed: relayed, mapped: message.mappedAddress))
  }

  // MARK: Errors (RFC 8656 §7.4, §8.3, §10.3, §12.3)

  private func takeError(_ message: STUNMessage, of request: Request, at now: Instant) {
    guard let code = message.errorCode else { return giveUp(request, code: 0, "", at: now) }
    let reason = message.errorReason ?? ""
    switch code {
    case 300: redirect(message, request, at: now)
    case 401: challenged(message, request, at: now)
    case 438:
      // A nonce that is stale at once, over and over, is a server gone wrong.
      guard request.attempt < 4, accept(message) else {
        return giveUp(request, code: code, reason, at: now)
      }
      send(request.purpose, attempt: request.attempt + 1, at: now)
    case 437 where request.purpose == .allocate:
      // §7.4: this address and port have an allocation already, of a client that vanished without giving it back. The section
      // advises another port; ours is shared with the host candidate, so the old allocation is given back instead.
      mismatches += 1
      guard mismatches <= 2 else { return giveUp(request, code: code, reason, at: now) }
      send(.clear, at: now)
    case 437:
      if request.purpose == .clear { send(.allocate, at: now) } else { fail(.allocationLost) }
    case 441: fail(.wrongCredentials)
    case 500...507 where request.attempt < 3:
      retries.append((now + .seconds(1), request.purpose, request.attempt + 1))
    default: giveUp(request, code: code, reason, at: now)
    }
  }

  private func giveUp(_ request: Request, code: Int, _ reason: String, at now: Instant) {
    let bounded = String(reason.prefix(128))
    switch request.purpose {
    case .allocate, .refresh, .clear: fail(.refused(code: code, reason: bounded))
    case .permissions(let addresses):
      if addresses.count > 1 {
        // One of them is at fault; the others shall not suffer.
        for ip in addresses { send(.permissions([ip]), at: now) }
      } else if let ip = addresses.first, permissions.contains(ip) {
        permissions.refuse(ip)
        events.append(.permissionRefused(ip, code: code))
      }
    case .channel(let index):
      guard channels.indices.contains(index) else { return }
      // Indications still carry what the permission allows.
      channels[index].isBound = false
      channels[index].isRefused = true
    case .release: break
    }
  }

  /// RFC 8489 §9.2.5, 401.
  private func challenged(_ message: STUNMessage, _ request: Request, at now: Instant) {
    guard configuration.credentials != nil else { return fail(.credentialsMissing) }
    // Signed for this realm and refused all the same: the name or the password is wrong.
    if request.isSigned, challenge?.realm == message.realm {
      return request.purpose == .release ? () : fail(.wrongCredentials)
    }
    guard request.attempt < 4, accept(message) else { return fail(.malformedResponse) }
    send(request.purpose, attempt: request.attempt + 1, at: now)
  }

  /// Takes over the challenge of a 401 or 438. Returns whether it has what it must have.
  private func accept(_ message: STUNMessage) -> Bool {
    guard let credentials = configuration.credentials, let nonce = message.nonce,
      let realm = message.realm ?? challenge?.realm
    else { return false }
    let features = STUNSecurityFeatures(nonce: nonce)
    let offered = message.passwordAlgorithms ?? []
    // RFC 8489 §9.2.5: the bit without the list means that somebody took the list away.
    if features.contains(.passwordAlgorithms), offered.isEmpty { return false }
    var algorithm: STUNPasswordAlgorithm?
    if features.contains(.passwordAlgorithms) {
      algorithm = offered.contains(.sha256) ? .sha256 : offered.first { $0.isKnown }
      if algorithm == nil { return false }
    }
    challenge = Challenge(
      realm: realm, nonce: nonce, key: credentials.key(realm: realm, algorithm: algorithm ?? .md5),
      integrity: algorithm == nil ? .sha1 : .sha256, offered: offered, algorithm: algorithm,
      hidesUsername: features.contains(.usernameAnonymity))
    return true
  }

  /// RFC 8489 §10.
  private func redirect(_ message: STUNMessage, _ request: Request, at now: Instant) {
    guard request.purpose == .allocate, let other = message.alternateServer, other.port != 0,
      other.ip.isV4 == server.ip.isV4, !visited.contains(other), visited.count < 4
    else { return fail(.refused(code: 300, reason: "the alternate server can't be used")) }
    visited.append(other)
    if configuration.isStream { return fail(.redirected(other)) }
    server = other
    challenge = nil
    send(.allocate, at: now)
  }
}

extension STUNMessage {
  var lifetime: UInt32? {
    for case .lifetime(let seconds) in attributes { return seconds }
    return nil
  }

  var relayedAddress: TransportAddress? {
    for case .xorRelayedAddress(let address) in attributes { return address }
    return nil
  }

  var alternateServer: TransportAddress? {
    for case .alternateServer(let address) in attributes { return address }
    return nil
  }

  var realm: [UInt8]? {
    for case .realm(let bytes) in attributes { return bytes }
    return nil
  }

  var nonce: [UInt8]? {
    for case .nonce(let bytes) in attributes { return bytes }
    return nil
  }

  var passwordAlgorithms: [STUNPasswordAlgorithm]? {
    for case .passwordAlgorithms(let list) in attributes { return list }
    return nil
  }
}
