public import SoraMedia
public import SoraWire

/// A client of a TURN server: gets a relayed address, keeps it, and carries datagrams through it (RFC 8656).
///
/// One instance has one allocation of one address family, over one UDP socket or one TCP or TLS connection. Sans-I/O: give it what comes
/// from the server with `receive` and time with `poll`, and after each call take what `nextEvent` and `nextTransmit` have. Confined
/// to its owner.
public final class TURNClient {
  public struct Configuration: Sendable {
    public var credentials: LongTermCredentials?
    /// Whether the way to the server keeps order and loses nothing: TCP or TLS. `receive` then takes whole messages, which
    /// `TURNStreamDeframer` cuts, and ChannelData is padded (RFC 8656 §12.5).
    public var isStream = false
    /// The family of the relayed address.
    public var family = STUNAddressFamily.ipv4
    /// Seconds asked for. Servers grant 600 where nothing is asked, and never less.
    public var lifetime: UInt32 = 600
    public var retransmission = STUNRetransmission()
    /// The time between indications that keep a translator's mapping to the server while nothing else is sent: with another
    /// address the allocation would be lost (RFC 8656 §3.1: it belongs to the 5-tuple). Tr of RFC 8445 §11. Not sent over streams.
    public var keepalive: Duration = .seconds(15)
    /// Addresses that may send to us at a time.
    public var maxPermissions = 64
    /// Peers whose packets get the short header; others have Send indications.
    public var maxChannels = 32

    public init(credentials: LongTermCredentials?) { self.credentials = credentials }
  }

  public enum State: Hashable, Sendable {
    case idle
    case allocating
    case allocated(relayed: TransportAddress)
    case failed(TURNError)
    case closed
  }

  /// What happened, in order.
  public enum Event: Hashable, Sendable {
    /// `mapped` is our address as the server sees it.
    case allocated(relayed: TransportAddress, mapped: TransportAddress?)
    /// No allocation, or it is gone. The last event.
    case failed(TURNError)
    /// The server relays nothing from or to an address (403, 443).
    case permissionRefused(IPAddress, code: Int)
  }

  /// Counters since the client was made.
  public struct Statistics: Sendable, Hashable {
    /// Requests sent, without retransmissions.
    public internal(set) var requestsSent = 0
    public internal(set) var retransmissionsSent = 0
    public internal(set) var responsesReceived = 0
    /// What came and broke the format.
    public internal(set) var malformed = 0
    /// Responses whose integrity attribute doesn't fit the credentials.
    public internal(set) var unauthentic = 0
    /// ChannelData on a channel that isn't bound.
    public internal(set) var unknownChannel = 0
  }

  /// What a message from the server turned out to be.
  public enum Received {
    /// Something for the client itself.
    case handled
    /// A STUN message that answers nothing of this client's.
    case notMine
    /// A datagram that a peer sent to the relayed address: where it lies in the bytes that were given.
    case data(Range<Int>, from: TransportAddress)
  }

  public let configuration: Configuration
  /// Where what `nextTransmit` gives has to go. Changes when a server names another (300) over UDP.
  public private(set) var server: TransportAddress
  public private(set) var state = State.idle
  public private(set) var statistics = Statistics()

  private let random: RandomSource
  private var authentication: TURNAuthentication
  private var requests = TURNRequests()
  /// Servers that were asked, the first first.
  private(set) var visited: [TransportAddress] = []
  private var mismatches = 0
  private var lease = TURNLease()
  private var permissions = TURNPermissions()
  private var channels = TURNChannels()
  private var outbox = Ring<[UInt8]>()
  private var events = Ring<Event>()

  public init(server: TransportAddress, configuration: Configuration, random: RandomSource) {
    self.server = server
    self.configuration = configuration
    self.random = random
    authentication = TURNAuthentication(credentials: configuration.credentials)
    visited = [server]
  }

  /// The relayed address, while there is one.
  public var relayedAddress: TransportAddress? {
    if case .allocated(let relayed) = state { return relayed }
    return nil
  }

  /// Since when the server has owed an answer to `verify`.
  public var unansweredSince: Instant? { lease.unansweredSince }

  /// Asks for an allocation. Over a stream: once it is open.
  public func start(at now: Instant) {
    guard state == .idle else { return }
    state = .allocating
    send(.allocate, at: now)
  }

  /// Lets an address send to us through the relay, and lets us send to it; kept until the client is closed.
  ///
  /// Call it for each remote candidate before the first check (RFC 8656 §9): what arrives right behind the request is relayed.
  public func permit(_ ip: IPAddress, at now: Instant) {
    guard case .allocated = state, !permissions.contains(ip),
      (configuration.family == .ipv4) == ip.isV4
    else { return }
    if permissions.count >= configuration.maxPermissions {
      // The oldest that has no channel makes room.
      let hasRoom = permissions.removeOldest { !channels.reaches($0) }
      guard hasRoom else { return }
    }
    permissions.insert(ip)
    send(.permissions([ip]), at: now)
  }

  /// Gives a peer's packets a channel: a header of 4 bytes in the place of 36 or more. For the pair that carries media.
  public func bindChannel(_ peer: TransportAddress, at now: Instant) {
    guard case .allocated = state, channels.count < configuration.maxChannels,
      !channels.contains(peer),
      (configuration.family == .ipv4) == peer.ip.isV4
    else { return }
    send(.channel(channels.add(peer)), at: now)
  }

  /// Asks the server whether it still has the allocation, with a Refresh before its time: for an owner to whom nothing comes through it
  /// any more. One that is gone fails with `.allocationLost` a few round trips later, not when it would have run out.
  public func verify(at now: Instant) {
    guard case .allocated = state, unansweredSince == nil else { return }
    lease.verify(at: now)
    requests.remove(.refresh)
    send(.refresh, at: now)
  }

  /// Gives the allocation back. What `nextTransmit` has still wants to be sent.
  public func close(at now: Instant) {
    guard state != .closed else { return }
    let hadAllocation = relayedAddress != nil
    state = .closed
    stopTimers()
    if hadAllocation { send(.release, at: now) }
  }

  /// The stream to the server has ended, or couldn't be made.
  public func connectionEnded(_ error: TURNError) { fail(error) }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    let abandoned = requests.advance(to: now) {
      statistics.retransmissionsSent += 1
      outbox.append($0)
    }
    for request in abandoned { giveUp(request, at: now) }
    for retry in requests.takeDueRetries(at: now) {
      send(retry.purpose, attempt: retry.attempt, at: now)
    }
    guard case .allocated = state else { return }
    if lease.isOver(at: now) { return fail(.allocationLost) }
    if lease.takeRefresh(at: now) { send(.refresh, at: now) }
    if lease.isKeepaliveDue(at: now) {
      lease.keepAlive(at: now + configuration.keepalive)
      // What is sent anyway does as well.
      if outbox.isEmpty {
        let id = STUNTransactionID(random: random)
        outbox.append(STUNMessage(.indication, transactionID: id).encoded(key: nil))
      }
    }
    var due = permissions.takeDue(at: now)
    // One request may carry many (RFC 8656 §10.1); no more than fit into any path's datagram.
    while !due.isEmpty {
      send(.permissions(Array(due.prefix(16))), at: now)
      due.removeFirst(min(16, due.count))
    }
    for index in channels.takeDue(at: now) { send(.channel(index), at: now) }
  }

  /// When `poll` wants to be called next; `nil` for never.
  public var nextDeadline: Instant? {
    earliest(
      earliest(lease.nextDeadline, permissions.nextDeadline),
      earliest(requests.nextDeadline, channels.nextDeadline))
  }

  /// The next message for the server; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> [UInt8]? { outbox.popFirst() }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> Event? { events.popFirst() }

  // MARK: Datagrams

  /// Takes what came from the server: a datagram, or one message of a stream. The bytes are lent for the call.
  public func receive(_ bytes: RawSpan, at now: Instant) -> Received {
    guard bytes.byteCount >= 4 else {
      statistics.malformed += 1
      return .handled
    }
    if bytes.u8(0) & 0xC0 == 0x40 { return receiveChannelData(bytes) }
    guard isSTUN(bytes) else { return .notMine }
    if bytes.u16(0) == TURNFrame.dataIndication { return receiveIndication(bytes) }
    return takeResponse(bytes, at: now) ? .handled : .notMine
  }

  private func receiveChannelData(_ bytes: RawSpan) -> Received {
    let count = Int(bytes.u16(2))
    guard count <= bytes.byteCount - 4 else {
      statistics.malformed += 1
      return .handled
    }
    guard relayedAddress != nil, let peer = channels.peer(number: bytes.u16(0)) else {
      statistics.unknownChannel += 1
      return .handled
    }
    return .data(4..<4 + count, from: peer)
  }

  private func receiveIndication(_ bytes: RawSpan) -> Received {
    guard relayedAddress != nil,
      let (peer, payload) = TURNFrame.readIndication(bytes)
    else {
      statistics.malformed += 1
      return .handled
    }
    return .data(payload, from: peer)
  }

  /// Bytes that `write` puts around a datagram at most.
  public static let maximumOverhead = TURNFrame.maximumOverhead

  /// Writes a datagram for a peer as the server wants it: as ChannelData once the peer's channel is bound, in a Send indication before.
  ///
  /// - Parameters:
  ///   - peer: whom it is for.
  ///   - slot: at least `maximumOverhead` bytes more than `body` writes.
  ///   - body: writes the datagram to the start of what it is given and returns its size; 0 sends nothing.
  /// - Returns: the bytes to send to the server; 0 for none: no allocation, or a peer that isn't permitted.
  public func write(
    to peer: TransportAddress, into slot: inout MutableRawSpan,
    _ body: (inout MutableRawSpan) -> Int
  ) -> Int {
    guard relayedAddress != nil else { return 0 }
    if let number = channels.boundNumber(of: peer) {
      return TURNFrame.writeChannelData(number, into: &slot, pads: configuration.isStream, body)
    }
    guard permissions.allows(peer.ip) else { return 0 }
    return TURNFrame.writeIndication(
      TURNFrame.sendIndication, peer: peer, id: STUNTransactionID(random: random), into: &slot, body
    )
  }

  // MARK: Requests

  private func send(_ purpose: TURNRequests.Purpose, attempt: Int = 0, at now: Instant) {
    // RFC 8656 §7.1: without the attribute the server takes IPv4, and old servers don't know it.
    let family: [STUNAttribute] =
      configuration.family == .ipv6 ? [.requestedAddressFamily(.ipv6)] : []
    var attributes: [STUNAttribute]
    let method: UInt16
    switch purpose {
    case .allocate:
      method = TURNMethod.allocate
      attributes =
        [.requestedTransport(TURNLimits.udp), .lifetime(configuration.lifetime)] + family
    case .refresh:
      method = TURNMethod.refresh
      attributes = [.lifetime(configuration.lifetime)] + family
    case .clear, .release:
      method = TURNMethod.refresh
      attributes = [.lifetime(0)] + family
    case .permissions(let addresses):
      method = TURNMethod.createPermission
      // RFC 8656 §10.1: the port is ignored.
      attributes = addresses.map { .xorPeerAddress(TransportAddress(ip: $0, port: 0)) }
    case .channel(let index):
      guard let (peer, number) = channels.peer(of: index) else { return }
      method = TURNMethod.channelBind
      attributes = [.channelNumber(number), .xorPeerAddress(peer)]
    }
    attributes += authentication.attributes
    let message = STUNMessage(
      .request, method: method, transactionID: STUNTransactionID(random: random),
      attributes: attributes)
    let bytes = message.encoded(
      key: authentication.key, fingerprint: true, integrity: authentication.integrity)
    var rule = configuration.retransmission
    // While something is wrong, a server that comes back shall hear of us soon: no more than two messages a second.
    if lease.unansweredSince != nil, purpose == .refresh {
      rule.maximumTimeout = min(rule.maximumTimeout, .milliseconds(500))
    }
    let pending = STUNPendingRequest(
      id: message.transactionID, bytes: bytes, isReliable: configuration.isStream, rule, at: now)
    requests.add(
      TURNRequests.Request(
        purpose, pending, rule, isSigned: authentication.isChallenged, attempt: attempt))
    statistics.requestsSent += 1
    outbox.append(bytes)
  }

  private func giveUp(_ request: TURNRequests.Request, at now: Instant) {
    switch request.purpose {
    case .allocate: fail(.timedOut)
    case .clear: send(.allocate, at: now)
    case .refresh:
      // There is a minute left until the allocation runs out: the path may come back.
      lease.askAgain(at: now + .seconds(1))
    case .permissions(let addresses):
      for ip in addresses { permissions.askAgain(ip, at: now + .seconds(1)) }
    case .channel(let index): channels.askAgain(index, at: now + .seconds(1))
    case .release: break
    }
  }

  // MARK: Responses

  /// Takes a response. Returns false where it answers nothing of this client's.
  private func takeResponse(_ bytes: RawSpan, at now: Instant) -> Bool {
    guard let request = requests.request(answeredBy: bytes) else { return false }
    guard let message = try? STUNMessage(parsing: bytes), message.fingerprint != .invalid,
      message.messageClass == .success || message.messageClass == .error
    else {
      statistics.malformed += 1
      return true
    }
    guard !request.isSigned || authentication.isAuthentic(message, bytes) else {
      // RFC 8489 §9.2.5: as if it had never come.
      statistics.unauthentic += 1
      return true
    }
    requests.remove(request)
    statistics.responsesReceived += 1
    if message.messageClass == .error {
      takeError(message, of: request, at: now)
    } else {
      takeSuccess(message, of: request, at: now)
    }
    return true
  }

  // MARK: Success

  private func takeSuccess(
    _ message: STUNMessage, of request: TURNRequests.Request, at now: Instant
  ) {
    switch request.purpose {
    case .allocate: takeAllocation(message, at: now)
    case .clear: send(.allocate, at: now)
    case .refresh:
      guard let lifetime = message.lifetime, lifetime > 0 else { return fail(.allocationLost) }
      lease.granted(lifetime, at: now)
    case .permissions(let addresses):
      for ip in addresses { permissions.install(ip, at: now) }
    case .channel(let index): channels.bound(index, at: now)
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

  private func takeError(_ message: STUNMessage, of request: TURNRequests.Request, at now: Instant)
  {
    guard let code = message.errorCode else { return giveUp(request, code: 0, "", at: now) }
    let reason = message.errorReason ?? ""
    switch code {
    case 300: redirect(message, request, at: now)
    case 401: challenged(message, request, at: now)
    case 438:
      // A nonce that is stale at once, over and over, is a server gone wrong.
      guard request.attempt < 4, authentication.accept(message) else {
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
      requests.retry(request, at: now + .seconds(1))
    default: giveUp(request, code: code, reason, at: now)
    }
  }

  private func giveUp(_ request: TURNRequests.Request, code: Int, _ reason: String, at now: Instant)
  {
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
    case .channel(let index): channels.refused(index)
    case .release: break
    }
  }

  /// RFC 8489 §9.2.5, 401.
  private func challenged(_ message: STUNMessage, _ request: TURNRequests.Request, at now: Instant)
  {
    guard authentication.hasCredentials else { return fail(.credentialsMissing) }
    // Signed for this realm and refused all the same: the name or the password is wrong.
    if request.isSigned, authentication.realm == message.realm {
      return request.purpose == .release ? () : fail(.wrongCredentials)
    }
    guard request.attempt < 4, authentication.accept(message) else {
      return fail(.malformedResponse)
    }
    send(request.purpose, attempt: request.attempt + 1, at: now)
  }

  /// RFC 8489 §10.
  private func redirect(_ message: STUNMessage, _ request: TURNRequests.Request, at now: Instant) {
    guard request.purpose == .allocate, let other = message.alternateServer, other.port != 0,
      other.ip.isV4 == server.ip.isV4, !visited.contains(other), visited.count < 4
    else { return fail(.refused(code: 300, reason: "the alternate server can't be used")) }
    visited.append(other)
    if configuration.isStream { return fail(.redirected(other)) }
    server = other
    authentication.forgetChallenge()
    send(.allocate, at: now)
  }

  private func fail(_ error: TURNError) {
    switch state {
    case .failed, .closed: return
    default: break
    }
    state = .failed(error)
    stopTimers()
    events.append(.failed(error))
  }

  private func stopTimers() {
    requests.removeAll()
    lease = TURNLease()
    permissions = TURNPermissions()
    channels = TURNChannels()
  }
}
