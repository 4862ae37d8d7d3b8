/// An allocation on a TURN server, as a base of candidates: how to send through it.
///
/// Confined to its gatherer's owner.
public final class ICERelay {
  /// Our socket that talks to the server, where datagrams do; a stream has a number instead.
  public let base: TransportAddress?
  /// The stream to the server.
  public let stream: Int?
  let client: TURNClient
  /// Which of the gatherer's servers.
  let server: Int
  var deframer = TURNStreamDeframer()
  var isOpen = false
  /// The address it had, for what was reported of it.
  var lastAddress: TransportAddress?

  init(base: TransportAddress?, stream: Int?, client: TURNClient, server: Int) {
    self.base = base
    self.stream = stream
    self.client = client
    self.server = server
  }

  /// The relayed address, while there is one.
  public var address: TransportAddress? { client.relayedAddress }

  /// Where datagrams for the server go.
  public var serverAddress: TransportAddress { client.server }

  /// Bytes that `write` puts around a datagram at most.
  public static let maximumOverhead = TURNClient.maximumOverhead

  /// Writes a datagram for a peer as the server wants it; see `TURNClient.write`.
  @inline(__always)
  public func write(
    to peer: TransportAddress, into slot: UnsafeMutableRawBufferPointer,
    _ body: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Int {
    client.write(to: peer, into: slot, body)
  }
}
