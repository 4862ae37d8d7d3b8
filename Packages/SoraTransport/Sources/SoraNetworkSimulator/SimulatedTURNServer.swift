public import SoraICE
public import SoraMedia

/// A STUN and TURN server on a host of a `SimulatedNetwork`, reached with datagrams. It relays from the host's addresses.
public final class SimulatedTURNServer: SimulatedEndpoint, TURNServerNetwork {
  /// Where clients reach it.
  public let addresses: [TransportAddress]
  public private(set) var server: TURNServer!
  private unowned let network: SimulatedNetwork
  private let host: SimulatedHost

  /// Puts a server on every address of `host`.
  public init(
    _ network: SimulatedNetwork, on host: SimulatedHost, port: UInt16 = 3478,
    configuration: TURNServer.Configuration
  ) {
    self.network = network
    self.host = host
    addresses = host.addresses.map { TransportAddress(ip: $0, port: port) }
    server = TURNServer(
      configuration: configuration, network: self, random: network.random.fork())
    for address in addresses { network.bind(self, to: address) }
  }

  // MARK: SimulatedEndpoint

  public func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(bytes)
    if addresses.contains(local) {
      server.receive(bytes, from: .init(local: local, remote: source), at: now)
    } else {
      server.receiveRelayed(bytes, from: source, on: local, at: now)
    }
  }

  public func poll(at now: Instant) { server.poll(at: now) }

  public var nextDeadline: Instant? { server.nextDeadline }

  // MARK: TURNServerNetwork

  public func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client)
    -> TransportAddress?
  {
    let wantsV4 = family == .ipv4
    // The address that the client reached, where the family allows.
    let ip =
      client.local.ip.isV4 == wantsV4
      ? client.local.ip : host.addresses.first { $0.isV4 == wantsV4 }
    guard let ip else { return nil }
    let relay = network.freePort(on: ip)
    return network.bind(self, to: relay) ? relay : nil
  }

  public func closeRelay(_ relay: TransportAddress) { network.unbind(relay) }

  public func send(
    to client: TURNServer.Client, capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    network.send(from: client.local, to: client.remote, capacity: capacity, write)
  }

  public func sendRelayed(
    from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    network.send(from: relay, to: peer, capacity: capacity, write)
  }
}
