import SoraMedia
public import SoraWire

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
  private var deframer = TURNStreamDeframer()
  var isOpen = false
  /// The address it had, for what was reported of it.
  var lastAddress: TransportAddress?
  var allocatedAt: Instant?
  /// How many tries in a row it took to make it anew; 0 for the first one of its server.
  let tries: Int
  /// The one that it shall take the place of, which is silent and may yet speak.
  var predecessor: ICERelay?
  /// Whether all tries to put another in its place have failed.
  var isBeyondHelp = false

  init(
    base: TransportAddress?, stream: Int?, client: TURNClient, server: Int, tries: Int = 0,
    predecessor: ICERelay? = nil
  ) {
    self.base = base
    self.stream = stream
    self.client = client
    self.server = server
    self.tries = tries
    self.predecessor = predecessor
  }

  /// The relayed address, while there is one.
  public var address: TransportAddress? { client.relayedAddress }

  /// Takes what its stream brought.
  ///
  /// - Parameters:
  ///   - dropped: counts what isn't used.
  ///   - body: is lent each datagram of a peer's, with the peer's address and the relayed one. It may come back here.
  func receive(
    _ bytes: RawSpan, at now: Instant,
    dropped: (WritableKeyPath<ICEGathering.Dropped, Int>) -> Void,
    _ body: (inout MutableRawSpan, TransportAddress, TransportAddress) -> Void
  ) {
    // Out of its place for the call, since `body` may come back.
    var deframer = deframer
    self.deframer = TURNStreamDeframer()
    do throws(TURNStreamDeframer.Unreadable) {
      try deframer.append(bytes) { message in
        switch client.receive(message.bytes, at: now) {
        case .data(let payload, let peer):
          guard let address else { return dropped(\.noAllocation) }
          var datagram = message.part(payload.lowerBound, payload.count)
          body(&datagram, peer, address)
        case .handled: break
        case .notMine: dropped(\.unexpected)
        }
      }
    } catch {
      dropped(\.malformed)
      client.connectionEnded(.malformedResponse)
    }
    self.deframer = deframer
  }

  /// Whether its server owes no answer.
  var isAnswered: Bool { client.unansweredSince == nil }

  /// Where datagrams for the server go.
  public var serverAddress: TransportAddress { client.server }

  /// Bytes that `write` puts around a datagram at most.
  public static let maximumOverhead = TURNClient.maximumOverhead

  /// Writes a datagram for a peer as the server wants it; see `TURNClient.write`.
  @inline(__always)
  public func write(
    to peer: TransportAddress, into slot: inout MutableRawSpan,
    _ body: (inout MutableRawSpan) -> Int
  ) -> Int {
    client.write(to: peer, into: &slot, body)
  }
}
