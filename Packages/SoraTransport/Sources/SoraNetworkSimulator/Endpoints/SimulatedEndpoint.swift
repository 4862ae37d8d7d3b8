public import SoraMedia
public import SoraRTP
public import SoraWire

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
  ///   - ecn: what its IP header says.
  ///   - now: the present time.
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant)
  /// `nextDeadline` has come.
  func poll(at now: Instant)
  /// When `poll` is wanted next. The network asks again after every call into an endpoint of the same host, and
  /// after every callback and message; after anything else, call `SimulatedNetwork.deadlinesChanged()`.
  var nextDeadline: Instant? { get }
  /// A datagram of ours was too large for a link that says so (`LinkConditions.reportsTooLarge`), as ICMP's "fragmentation needed"
  /// does (RFC 1191, RFC 8201). Nothing is done by default.
  func tooLarge(
    from local: TransportAddress, to remote: TransportAddress, maximumPayload: Int, at now: Instant)
}

extension SimulatedEndpoint {
  public func tooLarge(
    from local: TransportAddress, to remote: TransportAddress, maximumPayload: Int, at now: Instant
  ) {}
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
  ///   - now: the present time.
  /// - Returns: false to drop it.
  func forward(
    source: inout TransportAddress, destination: inout TransportAddress,
    payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
  ) -> Bool
  /// Whether a byte stream may be opened through it; asked once, with the first packet. Everything passes by default.
  ///
  /// - Parameters:
  ///   - source: where it comes from; may be rewritten.
  ///   - destination: where it goes to.
  ///   - link: the link it came over.
  ///   - now: the present time.
  func admitStream(
    source: inout TransportAddress, destination: TransportAddress, over link: SimulatedLink,
    at now: Instant
  ) -> Bool
}

extension SimulatedMiddlebox {
  public func admitStream(
    source: inout TransportAddress, destination: TransportAddress, over link: SimulatedLink,
    at now: Instant
  ) -> Bool { true }
}

/// A host or a router of a `SimulatedNetwork`.
public final class SimulatedHost: CustomStringConvertible {
  /// The name given when it was made, for messages.
  public let name: String
  /// The addresses it answers to.
  public internal(set) var addresses: [IPAddress]
  /// What its clock shows for the time of day. Step it with `stepWallClock`; virtual time goes on evenly.
  public var wallClock = WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero)
  let index: Int
  /// A router's duty. `nil` for a host, which doesn't forward.
  var middlebox: (any SimulatedMiddlebox)?
  let isRouter: Bool
  var endpoints: [Int] = []
  var addressObservers: [(_ added: [IPAddress], _ removed: [IPAddress]) -> Void] = []

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

  /// Sets the time of day forward or back, as a correction by NTP or a user does.
  public func stepWallClock(by step: Duration) {
    wallClock.unixNanosecondsAtZero &+= step.wholeNanoseconds
  }

  /// Calls `observer` when addresses come or go, as netlink tells those who listen.
  public func onAddressesChanged(
    _ observer: @escaping (_ added: [IPAddress], _ removed: [IPAddress]) -> Void
  ) {
    addressObservers.append(observer)
  }
}
