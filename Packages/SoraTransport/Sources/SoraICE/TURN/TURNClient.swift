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

  public let configuration: Configuration
  /// Where what `nextTransmit` gives has to go. Changes when a server names another (300) over UDP.
  public internal(set) var server: TransportAddress
  public internal(set) var state = State.idle
  public internal(set) var statistics = Statistics()

  struct Channel {
    let peer: TransportAddress
    var isBound = false
    var isRefused = false
    var refreshAt: Instant?
  }

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
    var pending: STUNPendingRequest
    let isSigned: Bool
    /// How often it was made anew, for a stale nonce or a busy server.
    let attempt: Int
    let rule: STUNRetransmission
  }

  /// What the server's challenge said, and the key made from it.
  struct Challenge {
    var realm: [UInt8]
    var nonce: [UInt8]
    var key: [UInt8]
    var integrity: STUNIntegrity
    var offered: [STUNPasswordAlgorithm]
    var algorithm: STUNPasswordAlgorithm?
    var hidesUsername: Bool
  }

  let random: RandomSource
  var challenge: Challenge?
  var requests: [Request] = []
  var visited: [TransportAddress] = []
  var mismatches = 0
  var lease = TURNLease()
  /// What a busy server is asked again, later.
  var retries: [(at: Instant, purpose: Purpose, attempt: Int)] = []
  var permissions = TURNPermissions()
  /// By channel number from 0x4000 on: a number is never used for another peer (RFC 8656 §12).
  var channels: [Channel] = []
  var outbox: [[UInt8]] = []
  var events: [Event] = []

  public init(server: TransportAddress, configuration: Configuration, random: RandomSource) {
    self.server = server
    self.configuration = configuration
    self.random = random
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
      let hasRoom = permissions.removeOldest { old in !channels.contains { $0.peer.ip == old } }
      guard hasRoom else { return }
    }
    permissions.insert(ip)
    send(.permissions([ip]), at: now)
  }

  /// Gives a peer's packets a channel: a header of 4 bytes in the place of 36 or more. For the pair that carries media.
  public func bindChannel(_ peer: TransportAddress, at now: Instant) {
    guard case .allocated = state, channels.count < configuration.maxChannels,
      !channels.contains(where: { $0.peer == peer }),
      (configuration.family == .ipv4) == peer.ip.isV4
    else { return }
    channels.append(Channel(peer: peer))
    send(.channel(channels.count - 1), at: now)
  }

  /// Asks the server whether it still has the allocation, with a Refresh before its time: for an owner to whom nothing comes through it
  /// any more. One that is gone fails with `.allocationLost` a few round trips later, not when it would have run out.
  public func verify(at now: Instant) {
    guard case .allocated = state, unansweredSince == nil else { return }
    lease.verify(at: now)
    requests.removeAll { $0.purpose == .refresh }
    send(.refresh, at: now)
  }

  /// Gives the allocation back. What `nextTransmit` has still wants to be sent.
  public func close(at now: Instant) {
    guard state != .closed else { return }
    let hadAllocation = relayedAddress != nil
    state = .closed
    requests = []
    stopTimers()
    if hadAllocation { send(.release, at: now) }
  }

  /// The stream to the server has ended, or couldn't be made.
  public func connectionEnded(_ error: TURNError) { fail(error) }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    runRequests(at: now)
    for retry in retries where retry.at <= now {
      send(retry.purpose, attempt: retry.attempt, at: now)
    }
    retries.removeAll { $0.at <= now }
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
    for index in channels.indices {
      if let at = channels[index].refreshAt, at <= now {
        channels[index].refreshAt = nil
        send(.channel(index), at: now)
      }
    }
  }

  /// When `poll` wants to be called next; `nil` for never.
  public var nextDeadline: Instant? {
    var deadline = earliest(lease.nextDeadline, permissions.nextDeadline)
    for retry in retries { deadline = earliest(deadline, retry.at) }
    for request in requests { deadline = earliest(deadline, request.pending.deadline) }
    for channel in channels { deadline = earliest(deadline, channel.refreshAt) }
    return deadline
  }

  /// The next message for the server; `nil` when there is none. Ask until `nil` after each call.
  public func nextTransmit() -> [UInt8]? { outbox.isEmpty ? nil : outbox.removeFirst() }

  /// The next event; `nil` when there is none. Ask until `nil` after each call.
  public func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  // MARK: Shared by the extensions

  func fail(_ error: TURNError) {
    switch state {
    case .failed, .closed: return
    default: break
    }
    state = .failed(error)
    requests = []
    stopTimers()
    events.append(.failed(error))
  }

  private func stopTimers() {
    retries = []
    lease = TURNLease()
    permissions = TURNPermissions()
    channels = []
  }
}
