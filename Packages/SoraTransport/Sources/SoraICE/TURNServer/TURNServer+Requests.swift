import SoraMedia
import SoraWire

extension TURNServer {
  /// One request with all that answering it takes.
  private struct Call {
    let message: STUNMessage
    let client: Client
    let signer: Signer
    let now: Instant
  }

  func answer(
    _ message: STUNMessage, _ bytes: RawSpan, from client: Client, at now: Instant
  ) {
    if message.method == STUNMessage.binding { return answerBinding(message, client, at: now) }
    guard let signer = authenticate(message, bytes, from: client, at: now) else { return }
    let call = Call(message: message, client: client, signer: signer, now: now)
    let unknown = message.unknownRequiredAttributes
    guard unknown.isEmpty else {
      return fail(
        call, [.errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(unknown)])
    }
    let allocation = allocations[client].flatMap { $0.expiresAt > now ? $0 : nil }
    // RFC 8656 §5: an allocation answers only to whoever made it.
    if let allocation, allocation.username != signer.username {
      return fail(call, 441, "Wrong Credentials")
    }
    if message.method == TURNMethod.allocate { return allocate(call, allocation) }
    guard let allocation else {
      guard
        [TURNMethod.refresh, TURNMethod.createPermission, TURNMethod.channelBind]
          .contains(message.method)
      else { return fail(call, 400, "Bad Request") }
      return fail(call, 437, "Allocation Mismatch")
    }
    switch message.method {
    case TURNMethod.refresh: refresh(call, allocation)
    case TURNMethod.createPermission: createPermission(call, allocation)
    case TURNMethod.channelBind: bindChannel(call, allocation)
    default: fail(call, 400, "Bad Request")
    }
  }

  // RFC 8489 §7.3.1; no credentials are asked for.
  private func answerBinding(_ message: STUNMessage, _ client: Client, at now: Instant) {
    guard grantsUnsignedAnswer(at: now) else { return }
    let unknown = message.unknownRequiredAttributes
    guard unknown.isEmpty else {
      statistics.errorResponses += 1
      let response = STUNMessage(
        .error, transactionID: message.transactionID,
        attributes: [
          .errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(unknown),
        ])
      return send(response.encoded(key: nil), to: client)
    }
    let response = STUNMessage(
      .success, transactionID: message.transactionID,
      attributes: [.xorMappedAddress(client.remote), .software(configuration.software)])
    send(response.encoded(key: nil), to: client)
  }

  // MARK: Allocate (RFC 8656 §7.2)

  private func allocate(_ call: Call, _ existing: Allocation?) {
    if let existing {
      guard existing.transactionID == call.message.transactionID else {
        return fail(call, 437, "Allocation Mismatch")
      }
      // The answer was lost: the same again.
      return grant(call, existing)
    }
    guard let transport = call.message.requestedTransport else {
      return fail(call, 400, "Bad Request")
    }
    guard transport == TURNLimits.udp else {
      return fail(call, 442, "Unsupported Transport Protocol")
    }
    guard let family = call.message.requestedFamily(orElse: .ipv4) else {
      return fail(call, 440, "Address Family not Supported")
    }
    let ofUser = allocations.values.reduce(0) { $0 + ($1.username == call.signer.username ? 1 : 0) }
    guard ofUser < configuration.maximumAllocationsPerUser else {
      statistics.allocationsRefused += 1
      return fail(call, 486, "Allocation Quota Reached")
    }
    if let old = allocations[call.client] { remove(old) }
    guard allocations.count < configuration.maximumAllocations,
      let relay = openRelay(family, call)
    else {
      statistics.allocationsRefused += 1
      // §7.2: a server that has no address of a family says so with 440; which it was can't be told apart for IPv6.
      return family == .ipv6
        ? fail(call, 440, "Address Family not Supported") : fail(call, 508, "Insufficient Capacity")
    }
    let allocation = Allocation(
      client: call.client, relay: relay, username: call.signer.username,
      transactionID: call.message.transactionID,
      expiresAt: call.now + .seconds(Int64(granted(call.message.lifetime))))
    allocations[call.client] = allocation
    relays[relay] = allocation
    statistics.allocationsMade += 1
    sweep(by: allocation.expiresAt)
    grant(call, allocation)
  }

  /// A relay with an even port where the request wants one (RFC 8656 §7.2); nil where there is none, or the port above is wanted too.
  private func openRelay(_ family: STUNAddressFamily, _ call: Call) -> TransportAddress? {
    guard let reservesNext = call.message.evenPort else {
      return network.openRelay(family, for: call.client)
    }
    if reservesNext { return nil }
    // Odd ones stay open meanwhile, so that none comes twice.
    var odd: [TransportAddress] = []
    defer { for relay in odd { network.closeRelay(relay) } }
    for _ in 0..<16 {
      guard let relay = network.openRelay(family, for: call.client) else { return nil }
      if relay.port % 2 == 0 { return relay }
      odd.append(relay)
    }
    return nil
  }

  private func grant(_ call: Call, _ allocation: Allocation) {
    let left = (allocation.expiresAt - call.now).components.seconds
    succeed(
      call,
      [
        .xorRelayedAddress(allocation.relay), .lifetime(UInt32(clamping: left)),
        .xorMappedAddress(call.client.remote),
      ])
  }

  private func granted(_ asked: UInt32?) -> UInt32 {
    min(max(asked ?? 0, configuration.defaultLifetime), configuration.maximumLifetime)
  }

  // MARK: Refresh (§8.2)

  private func refresh(_ call: Call, _ allocation: Allocation) {
    guard call.message.requestedFamily(orElse: allocation.family) == allocation.family else {
      return fail(call, 443, "Peer Address Family Mismatch")
    }
    if call.message.lifetime == 0 {
      remove(allocation)
      return succeed(call, [.lifetime(0)])
    }
    let lifetime = granted(call.message.lifetime)
    allocation.expiresAt = call.now + .seconds(Int64(lifetime))
    succeed(call, [.lifetime(lifetime)])
  }

  // MARK: CreatePermission (§10.2)

  private func createPermission(_ call: Call, _ allocation: Allocation) {
    let peers = call.message.peers
    guard !peers.isEmpty else { return fail(call, 400, "Bad Request") }
    for peer in peers {
      guard check(peer.ip, call, allocation) else { return }
    }
    let new = Set(peers.map(\.ip)).filter { allocation.permissions[$0] == nil }
    guard allocation.permissions.count + new.count <= configuration.maximumPermissions else {
      return fail(call, 508, "Insufficient Capacity")
    }
    for peer in peers { permit(peer.ip, allocation, at: call.now) }
    succeed(call, [])
  }

  private func permit(_ ip: IPAddress, _ allocation: Allocation, at now: Instant) {
    let end = now + TURNLimits.permissionLifetime
    allocation.permissions[ip] = end
    sweep(by: end)
  }

  /// Whether an address may be relayed to; answers the request where not.
  private func check(_ ip: IPAddress, _ call: Call, _ allocation: Allocation) -> Bool {
    guard ip.isV4 == allocation.relay.ip.isV4 else {
      fail(call, 443, "Peer Address Family Mismatch")
      return false
    }
    guard !ip.isUnspecified, !ip.isMulticast, !ip.isV4Mapped, ip.v4Bits != .max,
      !ip.isLoopback || configuration.allowsLoopbackPeers
    else {
      fail(call, 403, "Forbidden")
      return false
    }
    return true
  }

  // MARK: ChannelBind (§12.2)

  private func bindChannel(_ call: Call, _ allocation: Allocation) {
    guard let number = call.message.channelNumber, let peer = call.message.peers.first,
      (TURNLimits.firstChannel...TURNLimits.lastOldChannel).contains(number), peer.port != 0
    else { return fail(call, 400, "Bad Request") }
    guard check(peer.ip, call, allocation) else { return }
    // A number has one peer, and a peer one number.
    let known = allocation.channels[number]?.peer
    guard known == nil || known == peer, (allocation.numbers[peer] ?? number) == number else {
      return fail(call, 400, "Bad Request")
    }
    guard known != nil || allocation.channels.count < configuration.maximumChannels,
      allocation.permissions[peer.ip] != nil
        || allocation.permissions.count < configuration.maximumPermissions
    else { return fail(call, 508, "Insufficient Capacity") }
    let end = call.now + TURNLimits.channelLifetime
    allocation.channels[number] = Channel(peer: peer, expiresAt: end)
    allocation.numbers[peer] = number
    sweep(by: end)
    permit(peer.ip, allocation, at: call.now)
    succeed(call, [])
  }

  // MARK: Signed answers

  private func succeed(_ call: Call, _ attributes: [STUNAttribute]) {
    respond(.success, call, attributes)
  }

  private func fail(_ call: Call, _ code: Int, _ reason: String) {
    fail(call, [.errorCode(code, reason: reason)])
  }

  private func fail(_ call: Call, _ attributes: [STUNAttribute]) {
    statistics.errorResponses += 1
    respond(.error, call, attributes)
  }

  private func respond(_ messageClass: STUNClass, _ call: Call, _ attributes: [STUNAttribute]) {
    let response = STUNMessage(
      messageClass, method: call.message.method, transactionID: call.message.transactionID,
      attributes: attributes + [.software(configuration.software)])
    send(
      response.encoded(key: call.signer.key, integrity: call.signer.integrity), to: call.client)
  }
}
