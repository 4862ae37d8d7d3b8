public import SoraICE
public import SoraMedia

/// Something that sends and receives datagrams in a simulated network: a sans-I/O transport, a test's stub.
///
/// The network calls it on the thread that runs the simulation, never while another call into it is under way
/// on behalf of the network.
public protocol SimulatedEndpoint: AnyObject {
  /// A datagram has arrived.
  ///
  /// - Parameters:
  ///   - bytes: the payload, lent for the call and writable.
  ///   - source: the address it came from, as the last router left it.
  ///   - local: the bound address it came to.
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, at now: Instant)
  /// `nextDeadline` has come.
  func poll(at now: Instant)
  /// When `poll` is wanted next. The network asks again after every call into an endpoint of the same host, and
  /// after every callback and message; after anything else, call `SimulatedNetwork.deadlinesChanged()`.
  var nextDeadline: Instant? { get }
}

/// What a router between hosts does to datagrams: translate their addresses, filter them, or just count them.
public protocol SimulatedMiddlebox: AnyObject {
  /// Looks at a datagram that came in over a link, may rewrite its addresses, and says whether it goes on.
  ///
  /// - Parameters:
  ///   - source: where it comes from; may be rewritten.
  ///   - destination: where it goes to; may be rewritten. It is routed by what it says afterwards.
  ///   - payload: the datagram's bytes.
  ///   - link: the link it came over.
  /// - Returns: false to drop it.
  func forward(
    source: inout TransportAddress, destination: inout TransportAddress,
    payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
  ) -> Bool
}

/// A host or a router of a `SimulatedNetwork`.
public final class SimulatedHost: CustomStringConvertible {
  /// The name given when it was made, for messages.
  public let name: String
  /// The addresses it answers to.
  public internal(set) var addresses: [IPAddress]
  let index: Int
  /// A router's duty. `nil` for a host, which doesn't forward.
  let middlebox: (any SimulatedMiddlebox)?
  let isRouter: Bool
  var endpoints: [Int] = []

  init(
    name: String, addresses: [IPAddress], index: Int, isRouter: Bool,
    middlebox: (any SimulatedMiddlebox)?
  ) {
    self.name = name
    self.addresses = addresses
    self.index = index
    self.isRouter = isRouter
    self.middlebox = middlebox
  }

  public var description: String { name }
}
