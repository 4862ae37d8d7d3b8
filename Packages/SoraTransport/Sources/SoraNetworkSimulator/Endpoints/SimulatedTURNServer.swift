public import SoraICE
public import SoraMedia
public import SoraTransport
import SoraWire

/// A STUN and TURN server on a host of a `SimulatedNetwork`, reached with datagrams and over streams. It relays from the host's addresses.
public final class SimulatedTURNServer: SimulatedEndpoint, TURNServerNetwork {
  /// Where clients reach it with datagrams, and over TCP.
  public let addresses: [TransportAddress]
  public private(set) var server: TURNServer!
  /// Streams that are open.
  public var streamCount: Int { connections.count }
  private unowned let network: SimulatedNetwork
  private let sink: (any DatagramSink)?
  private let host: SimulatedHost
  private var configuration: TURNServer.Configuration
  private let listening: [TransportAddress]
  private var connections: [TURNServer.Client: Connection] = [:]

  private struct Connection {
    let stream: SimulatedStream
    var deframer = TURNStreamDeframer()
  }

  /// Puts a server on every address of `host`.
  ///
  /// - Parameters:
  ///   - network: the network that it is part of.
  ///   - host: the host that it runs on.
  ///   - port: for datagrams and TCP (`turn:`).
  ///   - securePort: for TLS (`turns:`), which is a stream that takes a round trip more.
  ///   - configuration: the server's, such as realm and time limits.
  ///   - sink: where its datagrams leave, if not into the network.
  public init(
    _ network: SimulatedNetwork, on host: SimulatedHost, port: UInt16 = 3478,
    securePort: UInt16 = 5349, configuration: TURNServer.Configuration,
    sink: (any DatagramSink)? = nil
  ) {
    self.network = network
    self.sink = sink
    self.host = host
    self.configuration = configuration
    addresses = host.addresses.map { TransportAddress(ip: $0, port: port) }
    listening = host.addresses.flatMap { ip in
      [port, securePort].map { TransportAddress(ip: ip, port: $0) }
    }
    begin()
  }

  private func begin() {
    server = TURNServer(
      configuration: configuration, network: self, random: network.random.fork())
    for address in addresses { network.bind(self, to: address) }
    for address in listening {
      network.listen(on: address) { [weak self] stream in self?.serve(stream) }
    }
  }

  /// Ends the server and begins another one in its place, which knows none of its allocations, nonces and statistics; streams are closed.
  ///
  /// - Parameters:
  ///   - downtime: until the new one is there. Meanwhile datagrams find nobody, and connections are refused.
  ///   - configuration: of the new one, where it is another.
  public func restart(
    downtime: Duration = .zero, configuration: TURNServer.Configuration? = nil
  ) {
    if let configuration { self.configuration = configuration }
    server.close()
    for address in addresses { network.unbind(address) }
    for address in listening { network.stopListening(on: address) }
    for connection in connections.values { connection.stream.close() }
    connections = [:]
    network.after(downtime) { [weak self] _ in self?.begin() }
  }

  private func serve(_ stream: SimulatedStream) {
    let client = TURNServer.Client(local: stream.local, remote: stream.remote, isStream: true)
    connections[client] = Connection(stream: stream)
    unsafe stream.onReceive = { [weak self] bytes, now in
      unsafe self?.received(bytes, from: client, at: now)
    }
    stream.onEnd = { [weak self] _, _ in
      self?.connections[client] = nil
      self?.server.clientGone(client)
    }
  }

  private func received(
    _ bytes: UnsafeRawBufferPointer, from client: TURNServer.Client, at now: Instant
  ) {
    guard var deframer = connections[client]?.deframer else { return }
    do throws(TURNStreamDeframer.Unreadable) {
      unsafe try deframer.append(bytes) {
        server.receive($0.bytes, from: client, at: now)
      }
      connections[client]?.deframer = deframer
    } catch {
      connections.removeValue(forKey: client)?.stream.close()
      server.clientGone(client)
    }
  }

  // MARK: SimulatedEndpoint

  public func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(bytes)
    if addresses.contains(local) {
      unsafe server.receive(bytes, from: .init(local: local, remote: source), at: now)
    } else {
      unsafe server.receiveRelayed(bytes, from: source, on: local, at: now)
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
    to client: TURNServer.Client, capacity: Int, _ write: (inout MutableRawSpan) -> Int
  ) {
    if client.isStream {
      unsafe connections[client]?.stream.send(
        bytes(capacity) { unsafe $0.withMutableRawSpan(write) })
    } else {
      unsafe (sink ?? network).send(
        from: client.local, to: client.remote, ecn: .notECT, capacity: capacity
      ) {
        unsafe $0.withMutableRawSpan(write)
      }
    }
  }

  public func sendRelayed(
    from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
    _ write: (inout MutableRawSpan) -> Int
  ) {
    unsafe (sink ?? network).send(from: relay, to: peer, ecn: .notECT, capacity: capacity) {
      unsafe $0.withMutableRawSpan(write)
    }
  }
}
