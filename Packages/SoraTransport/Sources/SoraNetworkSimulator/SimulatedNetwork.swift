public import SoraICE
public import SoraMedia
public import SoraTransport
import SoraWire

/// A network in virtual time: hosts, links with delay, loss and limits, and the endpoints that live on them.
///
/// Nothing happens until `run`; then events are served in order of their time, and of their making where times are
/// equal. No clock is read and all randomness comes from the seed, so a seed and a program make one run, to the byte.
/// Each direction of each link draws from a generator of its own: a change on one link doesn't shift the dice of the
/// others.
///
/// The network is the `DatagramSink` of every endpoint on it. Confined to one thread. It keeps its endpoints
/// alive; endpoints that hold it as their sink should do so `unowned`, or end with `removeAllEndpoints()`.
///
/// ```swift
/// import SoraICE
/// import SoraNetworkSimulator
///
/// let network = SimulatedNetwork(seed: 7)
/// let a = network.addHost("a", "10.0.0.1")
/// let b = network.addHost("b", "10.0.0.2")
/// network.link(a, b, LinkConditions(delay: .milliseconds(50), loss: 0.02))
/// // An endpoint of yours: network.bind(client, to: TransportAddress(ip: a.addresses[0], port: 5000))
/// network.run(for: .seconds(60))
/// ```
public final class SimulatedNetwork: DatagramSink {
  /// The virtual time. Starts at `Instant.zero`.
  public internal(set) var now: Instant = .zero
  /// What happened.
  public let log: SimulationLog
  /// Randomness for what lives on the network, from the same seed.
  public let random: RandomSource
  /// Datagrams that were dropped outside any link, by reason.
  public internal(set) var drops = SimulationDrops()
  /// Polls after which an endpoint still had a deadline that wasn't in the future. Such an endpoint would spin on a
  /// real loop; here it is polled again a microsecond later.
  public internal(set) var overduePolls = 0
  /// What host names resolve to; nothing for those that aren't here.
  public var names: [String: [IPAddress]] = [:]

  var heap = EventHeap()
  var pool = DatagramPool()
  var topology: Topology
  var endpoints = EndpointTable()
  var callbacks = CallbackTable()
  var pipes: [MessagePipe] = []
  var streams = SimulatedStreamTable<SimulatedStream>()
  /// Time between two addresses of one host.
  static let loopbackDelay: Int64 = 20_000

  /// - Parameters:
  ///   - seed: decides every draw.
  ///   - retention: which events can be read from `log` afterwards.
  public init(seed: UInt64, retention: SimulationLog.Retention = .latest(2_000)) {
    topology = Topology(seed: seed)
    log = SimulationLog(retention: retention)
    random = RandomSource(seed: seed ^ 0x5EED_0FA11)
  }

  // MARK: Topology

  /// Adds a host.
  @discardableResult
  public func addHost(_ name: String, addresses: [IPAddress]) -> SimulatedHost {
    topology.addNode(name, addresses, isRouter: false, middlebox: nil)
  }

  /// Adds a host by the text of its addresses. Texts that are no addresses are ignored.
  @discardableResult
  public func addHost(_ name: String, _ addresses: String...) -> SimulatedHost {
    addHost(name, addresses: addresses.compactMap { IPAddress($0) })
  }

  /// Adds a node that forwards between its links, and lets `middlebox` look at what it forwards. Datagrams to the
  /// router's own addresses reach the middlebox too (a translator owns its outside address).
  @discardableResult
  public func addRouter(
    _ name: String, addresses: [IPAddress] = [], middlebox: (any SimulatedMiddlebox)? = nil
  ) -> SimulatedHost {
    topology.addNode(name, addresses, isRouter: true, middlebox: middlebox)
  }

  /// Links two nodes, with the same conditions both ways.
  @discardableResult
  public func link(
    _ a: SimulatedHost, _ b: SimulatedHost, _ conditions: LinkConditions = .ideal
  ) -> SimulatedLink {
    link(a, b, forward: conditions, backward: conditions)
  }

  /// Links two nodes.
  ///
  /// - Parameters:
  ///   - a: one of them.
  ///   - b: the other.
  ///   - forward: conditions from `a` to `b`.
  ///   - backward: conditions from `b` to `a`.
  ///   - interfaceA: the addresses of `a` that this link serves, where `a` has several interfaces; `nil` for all.
  ///   - interfaceB: likewise for `b`.
  @discardableResult
  public func link(
    _ a: SimulatedHost, _ b: SimulatedHost, forward: LinkConditions, backward: LinkConditions,
    interfaceA: [IPAddress]? = nil, interfaceB: [IPAddress]? = nil
  ) -> SimulatedLink {
    topology.addLink(
      a, b, forward: forward, backward: backward, interfaceA: interfaceA, interfaceB: interfaceB,
      of: self)
  }

  /// The link to take from `host` towards `destination`.
  func link(
    from host: SimulatedHost, source: IPAddress, to destination: IPAddress
  ) -> SimulatedLink? {
    topology.nextHop(from: host.index, source: source, to: destination).map {
      topology.link(of: $0)
    }
  }

  // MARK: Endpoints

  /// Gives `endpoint` the datagrams that come to `address`, which has to belong to a host. An endpoint may be bound to
  /// several addresses of one host.
  ///
  /// - Returns: false where the address belongs to nobody or is taken by another endpoint.
  @discardableResult
  public func bind(_ endpoint: any SimulatedEndpoint, to address: TransportAddress) -> Bool {
    guard let owner = topology.owner(of: address.ip),
      let index = endpoints.bind(endpoint, to: address, of: topology.host(owner))
    else { return false }
    refresh(index)
    return true
  }

  /// A port of `address` that nobody is bound to, from 49152 up.
  public func freePort(on address: IPAddress) -> TransportAddress {
    var port: UInt16 = 49_152
    while endpoints.bound(to: TransportAddress(ip: address, port: port)) != nil, port < .max {
      port += 1
    }
    return TransportAddress(ip: address, port: port)
  }

  /// Ends a binding.
  public func unbind(_ address: TransportAddress) { endpoints.unbind(address) }

  /// Ends all bindings of an endpoint; it is polled no more.
  public func remove(_ endpoint: any SimulatedEndpoint) { endpoints.remove(endpoint) }

  /// Lets go of every endpoint and callback, which breaks cycles of references at the end of a test.
  public func removeAllEndpoints() {
    endpoints.removeAll()
    callbacks.clear()
    for host in topology.hosts { host.addressObservers = [] }
    streams.removeAll()
  }
}

/// Datagrams that a network dropped outside its links.
public struct SimulationDrops: Sendable, Equatable {
  /// Sent from an address that no host has.
  public var unknownSender = 0
  /// No way to the destination.
  public var noRoute = 0
  /// The host is there, but nobody is bound to the port.
  public var noEndpoint = 0
  /// Crossed too many routers.
  public var hopLimit = 0
  /// A middlebox refused it.
  public var filtered = 0
  /// Larger than a datagram may be.
  public var tooLarge = 0

  public init() {}
}
