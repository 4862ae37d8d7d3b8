public import SoraICE
public import SoraMedia

/// A firewall between the hosts linked to its `router` and the network its uplink leads to: rules, no translation.
///
/// Make one with `SimulatedNetwork.addFirewall`.
public final class SimulatedFirewall: SimulatedMiddlebox {
  /// What passes.
  public struct Rules: Sendable, Equatable {
    /// Far ports that may be sent to.
    public enum Ports: Sendable, Equatable {
      case all
      case only(Set<UInt16>)
      case none

      func contains(_ port: UInt16) -> Bool {
        switch self {
        case .all: true
        case .only(let ports): ports.contains(port)
        case .none: false
        }
      }
    }

    /// Of datagrams from inside.
    public var datagrams: Ports
    /// Of connections from inside.
    public var streams: Ports
    /// Whether only answers come in: datagrams from where the same inside address and port has sent to within `timeout`. Otherwise
    /// everything that isn't an answer passes too, unless no datagram may.
    public var onlyAnswersComeIn: Bool
    public var timeout: Duration

    public init(
      datagrams: Ports = .all, streams: Ports = .all, onlyAnswersComeIn: Bool = true,
      timeout: Duration = .seconds(120)
    ) {
      self.datagrams = datagrams
      self.streams = streams
      self.onlyAnswersComeIn = onlyAnswersComeIn
      self.timeout = timeout
    }

    /// Everything goes out, only answers come in.
    public static let onlyOutbound = Rules()
    /// Datagrams only to port 53, connections to any.
    public static let onlyNameServers = Rules(datagrams: .only([53]))
    /// No datagrams at all.
    public static let noDatagrams = Rules(datagrams: .none)
    /// Web traffic and nothing else: connections to ports 80 and 443.
    public static let onlyWeb = Rules(datagrams: .none, streams: .only([80, 443]))
  }

  private struct Session: Hashable {
    var inside: TransportAddress
    var outside: TransportAddress
  }

  /// May change at any time.
  public var rules: Rules
  /// Datagrams and connections refused, by where they came from.
  public private(set) var blockedOutbound = 0
  public private(set) var blockedInbound = 0
  public private(set) var blockedStreams = 0
  /// The node to link inside hosts to. Owned by the network.
  public unowned let router: SimulatedHost
  /// The link to the outside.
  public let uplink: SimulatedLink
  private unowned let network: SimulatedNetwork
  private var sessions: [Session: Instant] = [:]
  private var sweepAt = 1024

  init(
    network: SimulatedNetwork, router: SimulatedHost, uplink: SimulatedLink, rules: Rules
  ) {
    self.network = network
    self.router = router
    self.uplink = uplink
    self.rules = rules
  }

  public func forward(
    source: inout TransportAddress, destination: inout TransportAddress,
    payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
  ) -> Bool {
    if link === uplink {
      let session = Session(inside: destination, outside: source)
      if rules.datagrams != .none,
        !rules.onlyAnswersComeIn || (sessions[session] ?? .zero) > now
      {
        return true
      }
      blockedInbound += 1
      return false
    }
    // Between hosts of the same side it isn't asked.
    guard network.link(from: router, source: source.ip, to: destination.ip) === uplink else {
      return true
    }
    guard rules.datagrams.contains(destination.port) else {
      blockedOutbound += 1
      return false
    }
    if sessions.count >= sweepAt {
      sessions = sessions.filter { $0.value > now }
      sweepAt = max(1024, 2 * sessions.count)
    }
    sessions[Session(inside: source, outside: destination)] = now + rules.timeout
    return true
  }

  public func admitStream(
    source: inout TransportAddress, destination: TransportAddress, over link: SimulatedLink,
    at now: Instant
  ) -> Bool {
    let isAdmitted =
      link === uplink ? !rules.onlyAnswersComeIn : rules.streams.contains(destination.port)
    if !isAdmitted { blockedStreams += 1 }
    return isAdmitted
  }
}

extension SimulatedNetwork {
  /// Adds a firewall whose uplink goes to `outer`.
  @discardableResult
  public func addFirewall(
    _ name: String, _ rules: SimulatedFirewall.Rules, uplink outer: SimulatedHost,
    _ conditions: LinkConditions = .ideal
  ) -> SimulatedFirewall {
    let router = addRouter(name)
    let firewall = SimulatedFirewall(
      network: self, router: router, uplink: link(router, outer, conditions), rules: rules)
    router.middlebox = firewall
    return firewall
  }
}
