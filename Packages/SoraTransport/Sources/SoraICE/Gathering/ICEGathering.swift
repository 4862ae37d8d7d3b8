public import SoraWire

/// What an `ICEGatherer` is told and what it tells.
public enum ICEGathering {
  /// Which servers are asked, and how.
  public struct Configuration: Sendable {
    public var servers: [ICEServer] = []
    public var policy = ICETransportPolicy.all
    public var retransmission = STUNRetransmission()
    /// Allocations on one TURN server: one a base, up to this.
    public var maximumRelaysPerServer = 4
    /// Binding requests and allocations under way or kept, of all servers.
    public var maximumClients = 48
    /// How often in a row a server is asked for another allocation in the place of one that was lost.
    public var maximumRemakes = 24
    /// The wait after the first of those tries failed, give or take a fifth; each further one is half as long again.
    public var remakeDelay: Duration = .milliseconds(250)
    /// The longest of those waits: a call lives for 30 s without its relay, and the server shall not come back in vain.
    public var maximumRemakeDelay: Duration = .seconds(3)
    /// How long a stream's server may owe an answer to `verify` before another stream is opened beside it.
    public var streamPatience: Duration = .seconds(1)

    public init() {}
  }

  /// A candidate that was found. `relatedAddress` is what `raddr` shall say.
  public struct Found: Hashable, Sendable {
    public let type: ICECandidateType
    public let address: TransportAddress
    public let base: ICEBase
    public let relatedAddress: TransportAddress
    /// The server's address, where it is known (a proxy resolves names itself).
    public let server: IPAddress?
    public let url: ICEServerURL

    /// What a server says of a socket of ours; `nil` where no translator is between them: then it is the host candidate once more
    /// (RFC 8445 §5.1.3).
    static func reflexive(
      _ address: TransportAddress, base: TransportAddress, server: IPAddress, url: ICEServerURL
    ) -> Found? {
      guard address != base, address.ip.isV4 == base.ip.isV4, address.port != 0 else { return nil }
      return Found(
        type: .srflx, address: address, base: ICEBase(address: base), relatedAddress: base,
        server: server, url: url)
    }

    /// An allocation.
    ///
    /// - Parameter mapped: what the server sees of us, which RFC 8839 §5.1 wants to be told; `nil` where that is to stay hidden.
    static func relayed(
      _ address: TransportAddress, mapped: TransportAddress?, server: IPAddress?,
      url: ICEServerURL
    ) -> Found {
      let unspecified = address.ip.isV4 ? IPAddress(v4: 0) : IPAddress(v6: (0, 0))
      return Found(
        type: .relay, address: address,
        base: ICEBase(address: address, type: .relay, transport: url.isStream ? .tcp : .udp),
        relatedAddress: mapped ?? TransportAddress(ip: unspecified, port: 0), server: server,
        url: url)
    }
  }

  /// What happened, in order.
  public enum Event: Hashable, Sendable {
    case found(Found)
    /// Resolve the name and call `resolved`.
    case resolve(name: String)
    /// Open a stream and call `streamOpened` or `streamEnded`.
    case openStream(Int, to: ICEServer)
    case closeStream(Int)
    /// An allocation is gone, and its candidate with it.
    case lost(relay: TransportAddress)
    case failed(ICEServerFailure)
    /// Every server has answered or was given up. Again after a new base was asked for, and after an allocation was made anew.
    case complete
  }

  /// A message to send.
  public enum Transmit: Sendable {
    case datagram(from: TransportAddress, to: TransportAddress, bytes: [UInt8])
    case stream(Int, bytes: [UInt8])
  }

  /// What a datagram or a message of a stream turned out to be.
  public enum Received {
    /// From a server, for the gatherer.
    case handled
    /// Not from a server, or not for us: the agent's.
    case notMine
    /// What a peer sent to a relayed address: where it lies in the bytes that were given.
    case relayed(Range<Int>, from: TransportAddress, on: TransportAddress)
  }

  /// What came from servers and wasn't used, by reason; and what relays couldn't carry.
  public struct Dropped: Sendable, Hashable {
    /// Broke the format.
    public var malformed = 0
    /// Responses whose integrity attribute doesn't fit the credentials.
    public var unauthentic = 0
    /// ChannelData on a channel that isn't bound.
    public var unknownChannel = 0
    /// Messages of a stream that answer nothing of ours.
    public var unexpected = 0
    /// Bytes of a stream that isn't there any more, counted once a call.
    public var unknownStream = 0
    /// A peer's datagrams from an allocation that is gone.
    public var noAllocation = 0

    public init() {}

    mutating func add(_ statistics: TURNClient.Statistics) {
      malformed += statistics.malformed
      unauthentic += statistics.unauthentic
      unknownChannel += statistics.unknownChannel
    }
  }
}
