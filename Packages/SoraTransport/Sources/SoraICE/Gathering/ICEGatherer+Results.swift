public import SoraWire

// What a gatherer has to say.
extension ICEGatherer {
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
}
