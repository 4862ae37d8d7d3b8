public import SoraMedia
public import SoraWire

/// Where a TURN server's datagrams go, and where it gets sockets to relay from. Called inside the server's own calls.
public protocol TURNServerNetwork: AnyObject {
  /// Opens a UDP socket for an allocation and returns its address, which clients tell their peers; `nil` where there is none.
  func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client) -> TransportAddress?
  func closeRelay(_ relay: TransportAddress)
  /// Lends memory for one message to a client: a datagram, or the next bytes of its stream. Nothing is sent where `write` returns 0.
  func send(
    to client: TURNServer.Client, capacity: Int, _ write: (inout MutableRawSpan) -> Int)
  /// Lends memory for one datagram from a relay's socket to a peer.
  func sendRelayed(
    from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
    _ write: (inout MutableRawSpan) -> Int)
}

/// A STUN and TURN server (RFC 8489, 8656): gives clients relayed UDP addresses, and carries datagrams between them and their peers.
///
/// Sans-I/O, confined to its owner: it opens sockets and sends through a `TURNServerNetwork`. It takes no DONT-FRAGMENT and
/// RESERVATION-TOKEN (420) and keeps no second port (508), which WebRTC doesn't use.
public final class TURNServer {
  /// A client's 5-tuple (RFC 8656 §2).
  public struct Client: Hashable, Sendable {
    /// The server's address that the client talks to.
    public var local: TransportAddress
    public var remote: TransportAddress
    /// Whether it came over TCP or TLS; its messages are then given whole, as `TURNStreamDeframer` cuts them.
    public var isStream: Bool

    public init(local: TransportAddress, remote: TransportAddress, isStream: Bool = false) {
      self.local = local
      self.remote = remote
      self.isStream = isStream
    }
  }

  /// Whom the server serves.
  public enum Credentials: Sendable {
    /// Passwords by user name.
    case users([String: String])
    /// Any name whose password was derived with `LongTermCredentials.password(for:secret:)`.
    case secret([UInt8])
  }

  public struct Configuration: Sendable {
    public var realm: String
    public var credentials: Credentials
    public var software = "sora"
    /// Whether SHA-256 keys are offered beside MD5 (RFC 8489 §9.2).
    public var offersSHA256 = true
    /// Seconds granted where a client asks for less or nothing, and at most.
    public var defaultLifetime: UInt32 = 600
    public var maximumLifetime: UInt32 = 3600
    /// How long a nonce is taken.
    public var nonceLifetime: Duration = .seconds(3600)
    public var maximumAllocations = 1000
    public var maximumAllocationsPerUser = 16
    public var maximumPermissions = 128
    public var maximumChannels = 64
    /// Whether peers on loopback addresses are relayed to: only for a server that serves its own host.
    public var allowsLoopbackPeers = false
    /// Answers a second to requests that nobody signed; those beyond aren't answered, so that the server is no reflector.
    public var unsignedAnswersPerSecond = 1000

    public init(realm: String, credentials: Credentials) {
      self.realm = realm
      self.credentials = credentials
    }
  }

  /// Counters since the server was made.
  public struct Statistics: Sendable, Hashable {
    public internal(set) var allocationsMade = 0
    public internal(set) var allocationsRefused = 0
    /// Datagrams and payload bytes from clients to peers and back.
    public internal(set) var datagramsToPeers: UInt64 = 0
    public internal(set) var bytesToPeers: UInt64 = 0
    public internal(set) var datagramsToClients: UInt64 = 0
    public internal(set) var bytesToClients: UInt64 = 0
    /// Messages that break the format.
    public internal(set) var malformed = 0
    /// Data of clients without an allocation, and ChannelData on channels that aren't bound.
    public internal(set) var unexpectedData = 0
    /// Data from or to addresses without a permission.
    public internal(set) var notPermitted = 0
    /// Unsigned requests left without an answer.
    public internal(set) var rateLimited = 0
    public internal(set) var errorResponses = 0
  }

  struct Channel {
    let peer: TransportAddress
    var expiresAt: Instant
  }

  final class Allocation {
    let client: Client
    let relay: TransportAddress
    let username: [UInt8]
    /// The Allocate request that made it: a repeated one gets the same answer (RFC 8656 §7.2).
    let transactionID: STUNTransactionID
    var expiresAt: Instant
    var permissions: [IPAddress: Instant] = [:]
    var channels: [UInt16: Channel] = [:]
    var numbers: [TransportAddress: UInt16] = [:]

    init(
      client: Client, relay: TransportAddress, username: [UInt8], transactionID: STUNTransactionID,
      expiresAt: Instant
    ) {
      self.client = client
      self.relay = relay
      self.username = username
      self.transactionID = transactionID
      self.expiresAt = expiresAt
    }

    var family: STUNAddressFamily { relay.ip.isV4 ? .ipv4 : .ipv6 }
  }

  public let configuration: Configuration
  public internal(set) var statistics = Statistics()
  unowned let network: any TURNServerNetwork
  let random: RandomSource
  let nonceSecret: [UInt8]
  var allocations: [Client: Allocation] = [:]
  var relays: [TransportAddress: Allocation] = [:]
  /// When something may have run out; nothing does before.
  var nextSweep: Instant?
  private var unsignedAnswers = 0
  private var unsignedSecond: Int64 = 0

  /// - Parameters:
  ///   - configuration: realm, credentials, time limits, quotas.
  ///   - network: not held; it owns the server, as a rule, and lives as long.
  ///   - random: for nonces, ports and tokens.
  public init(
    configuration: Configuration, network: any TURNServerNetwork, random: RandomSource
  ) {
    self.configuration = configuration
    self.network = network
    self.random = random
    nonceSecret = random.bytes(32)
  }

  /// How many allocations there are.
  public var allocationCount: Int { allocations.count }

  /// Takes a datagram, or one message of a stream, from a client. The bytes are lent for the call.
  public func receive(_ bytes: RawSpan, from client: Client, at now: Instant) {
    guard bytes.byteCount >= 4 else { return statistics.malformed += 1 }
    if bytes.u8(0) & 0xC0 == 0x40 { return receiveChannelData(bytes, from: client, at: now) }
    guard isSTUN(bytes) else { return statistics.malformed += 1 }
    if bytes.u16(0) == TURNFrame.sendIndication {
      return receiveIndication(bytes, from: client, at: now)
    }
    guard let message = try? STUNMessage(parsing: bytes), message.fingerprint != .invalid else {
      return statistics.malformed += 1
    }
    guard message.messageClass == .request else { return }
    answer(message, bytes, from: client, at: now)
  }

  /// A stream has ended, and its allocation with it (RFC 8656 §7.2).
  public func clientGone(_ client: Client) {
    if let allocation = allocations[client] { remove(allocation) }
  }

  /// Lets what has run out go.
  public func poll(at now: Instant) {
    guard let due = nextSweep, due <= now else { return }
    nextSweep = nil
    for allocation in Array(allocations.values) {
      if allocation.expiresAt <= now {
        remove(allocation)
        continue
      }
      allocation.permissions = allocation.permissions.filter { $0.value > now }
      for (number, channel) in allocation.channels where channel.expiresAt <= now {
        allocation.channels[number] = nil
        allocation.numbers[channel.peer] = nil
      }
      sweep(by: allocation.expiresAt)
      for end in allocation.permissions.values { sweep(by: end) }
      for channel in allocation.channels.values { sweep(by: channel.expiresAt) }
    }
  }

  /// When `poll` wants to be called next; `nil` for never.
  public var nextDeadline: Instant? { nextSweep }

  /// Gives up all allocations.
  public func close() {
    for allocation in Array(allocations.values) { remove(allocation) }
    nextSweep = nil
  }

  // MARK: Shared by the extensions

  func sweep(by instant: Instant) { nextSweep = earliest(nextSweep, instant) }

  func remove(_ allocation: Allocation) {
    allocations[allocation.client] = nil
    relays[allocation.relay] = nil
    network.closeRelay(allocation.relay)
  }

  func send(_ bytes: [UInt8], to client: Client) {
    network.send(to: client, capacity: bytes.count) { slot in
      slot.put(bytes.rawSpan, at: 0)
      return bytes.count
    }
  }

  /// Whether one more answer to an unsigned request is granted in this second.
  func grantsUnsignedAnswer(at now: Instant) -> Bool {
    let second = now.milliseconds / 1000
    if second != unsignedSecond {
      unsignedSecond = second
      unsignedAnswers = 0
    }
    unsignedAnswers += 1
    guard unsignedAnswers <= configuration.unsignedAnswersPerSecond else {
      statistics.rateLimited += 1
      return false
    }
    return true
  }
}
