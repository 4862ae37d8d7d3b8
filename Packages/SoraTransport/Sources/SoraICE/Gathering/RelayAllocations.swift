import SoraMedia
import SoraWire

/// The allocations of a gatherer: those that it has or asks for, and the drops of those that it had.
struct RelayAllocations {
  private(set) var all: [ICERelay] = []
  private var nextStream = 1
  /// Addresses of the peer's that they let through.
  private var permitted: [IPAddress] = []
  private var past = ICEGathering.Dropped()

  var count: Int { all.count }

  /// Whether each has its address.
  var isDone: Bool { all.allSatisfy { $0.address != nil } }

  /// Counts since the gatherer was made.
  var dropped: ICEGathering.Dropped {
    var sum = past
    for relay in all { sum.add(relay.client.statistics) }
    return sum
  }

  /// Counts what no client does.
  mutating func drop(_ reason: WritableKeyPath<ICEGathering.Dropped, Int>) {
    past[keyPath: reason] += 1
  }

  func relay(at address: TransportAddress) -> ICERelay? {
    for relay in all where relay.address == address { return relay }
    return nil
  }

  func relay(of stream: Int) -> ICERelay? {
    for relay in all where relay.stream == stream { return relay }
    return nil
  }

  func count(on server: Int) -> Int { all.count { $0.server == server } }

  func isAsked(_ server: Int) -> Bool { all.contains { $0.server == server } }

  func isAsked(_ server: Int, from base: TransportAddress) -> Bool {
    all.contains { $0.server == server && $0.base == base }
  }

  /// Whether there is one of the same 5-tuple, of whatever URL.
  func isAsked(_ remote: TransportAddress, from base: TransportAddress) -> Bool {
    all.contains { $0.base == base && $0.client.server == remote }
  }

  /// The one that is to take a relay's place.
  func successor(of relay: ICERelay) -> ICERelay? { all.first { $0.predecessor === relay } }

  /// Asks for one over datagrams.
  mutating func begin(
    _ client: TURNClient, on server: Int, from base: TransportAddress, tries: Int, at now: Instant
  ) {
    all.append(ICERelay(base: base, stream: nil, client: client, server: server, tries: tries))
    client.start(at: now)
  }

  /// Adds one that is asked for once its stream is open. Returns the stream's number.
  mutating func add(
    _ client: TURNClient, on server: Int, tries: Int, predecessor: ICERelay?
  ) -> Int {
    defer { nextStream += 1 }
    all.append(
      ICERelay(
        base: nil, stream: nextStream, client: client, server: server, tries: tries,
        predecessor: predecessor))
    return nextStream
  }

  mutating func remove(_ gone: [ICERelay]) {
    guard !gone.isEmpty else { return }
    for relay in gone { past.add(relay.client.statistics) }
    all.removeAll { relay in gone.contains { $0 === relay } }
  }

  /// Lets an address of the peer's through each of them, and through those to come; of 128 addresses.
  mutating func permit(_ ip: IPAddress, at now: Instant) {
    if !permitted.contains(ip) {
      permitted.append(ip)
      if permitted.count > 128 { permitted.removeFirst() }
    }
    for relay in all { relay.client.permit(ip, at: now) }
  }

  /// Lets the peer's addresses through a new one.
  func permitKnown(through relay: ICERelay, at now: Instant) {
    for ip in permitted { relay.client.permit(ip, at: now) }
  }

  func poll(at now: Instant) {
    for relay in all {
      if let due = relay.client.nextDeadline, due <= now { relay.client.poll(at: now) }
    }
  }

  var nextDeadline: Instant? { all.compactMap(\.client.nextDeadline).min() }
}
