import Logging
import SoraClock
import SoraICE
import SoraMedia
import SoraSignaling
import SoraTURNStream
import SoraTransport

/// A STUN and TURN server beside the forwarding unit: its sockets, its relays' sockets and its timer. Confined to a loop.
final class TURNService: TURNServerNetwork {
  private let loop: NetworkLoop
  private let logger: Logger
  private let secret: [UInt8]
  private let transports: Set<ServerConfiguration.TURN.Transport>
  private(set) var server: TURNServer!
  private var timer: LoopTimer?
  private let sockets = UDPSocketSet()
  private var relays: [TransportAddress: Relay] = [:]
  private var streams: TURNStreams
  private(set) var listeners: [TURNStreamListener] = []
  private let front = Front()
  private let back = Back()

  private struct Relay {
    let socket: UDPSocket
    let client: TURNServer.Client
  }

  /// Opens UDP sockets on the port of every address.
  ///
  /// - Throws: `NetworkError` where none can be opened.
  init(
    addresses: [IPAddress], _ settings: ServerConfiguration.TURN, loop: NetworkLoop,
    logger: Logger
  ) throws(NetworkError) {
    self.loop = loop
    transports = settings.transports
    streams = TURNStreams(settings.streamLimits)
    self.logger = logger
    secret = RandomSource.system().bytes(32)
    var configuration = TURNServer.Configuration(realm: "sora", credentials: .secret(secret))
    // Whoever reaches a server on loopback addresses is on this host already.
    configuration.allowsLoopbackPeers = addresses.allSatisfy(\.isLoopback)
    server = TURNServer(configuration: configuration, network: self, random: .system())
    front.service = self
    back.service = self
    try sockets.open(
      addresses, port: settings.port, sharesPort: true, for: "TURN", on: loop, handler: front,
      logger: logger)
    timer = loop.makeTimer { [weak self] now in
      self?.poll(at: now)
    }
  }

  /// Where clients reach it, for UDP.
  var addresses: [TransportAddress] { sockets.sockets.map(\.localAddress) }

  /// The URLs of an offer: datagrams first.
  ///
  /// - Parameters:
  ///   - authority: how the client names this host, `NAME[:PORT]` (RFC 9110 §7.2), if it is known. Where that is
  ///     a name, TLS goes by it: the certificate of signaling has it, and libwebrtc finds no addresses in certificates.
  ///   - relayProtocol: `udp`, `tcp` or `tls` for those alone.
  func urls(for authority: String? = nil, only relayProtocol: String? = nil) -> [String] {
    let name = authority.flatMap { ICEServerURL("turns:\($0)")?.host }.flatMap(reachableName)
    let datagrams = transports.contains(.udp) ? addresses : []
    var urls = datagrams.map { ICEServerURL(scheme: .turn, $0, .udp) }
    for listener in listeners {
      var url = ICEServerURL(
        scheme: listener.isSecure ? .turns : .turn, listener.address, .tcp)
      if let name, listener.isSecure { url.host = name }
      // One name stands for all addresses.
      if !urls.contains(url) { urls.append(url) }
    }
    if let relayProtocol { urls.removeAll { $0.relayProtocol != relayProtocol } }
    return urls.map(\.description)
  }

  /// A name by which clients find the relay; this host's own name for itself leads to loopback addresses alone.
  private func reachableName(_ host: ICEHostAddress) -> ICEHostAddress? {
    guard case .name(let name) = host else { return nil }
    let isHere = name.lowercased() == "localhost"
    return isHere && !addresses.contains(where: \.ip.isLoopback) ? nil : host
  }

  /// A name and password for one connection, good for as long as the server runs.
  func credentials(for connectionID: String) -> LongTermCredentials {
    LongTermCredentials(
      username: connectionID,
      password: LongTermCredentials.password(for: connectionID, secret: secret))
  }

  /// How the client that was given this relayed address reaches us; nil where it is none of ours.
  func transport(ofRelay address: TransportAddress) -> ICEServerURL.Transport? {
    relays[address].map { $0.client.isStream ? .tcp : .udp }
  }

  func add(_ listener: TURNStreamListener) { listeners.append(listener) }

  /// Gives up all allocations and closes all sockets; listeners are returned to be stopped.
  func shutdown() -> [TURNStreamListener] {
    server.close()
    timer?.cancel()
    timer = nil
    streams.closeAll()
    sockets.close()
    for relay in relays.values { relay.socket.close() }
    relays = [:]
    defer { listeners = [] }
    return listeners
  }

  private func poll(at now: Instant) {
    server.poll(at: now)
    while let client = streams.late(at: now) { end(client) }
    schedule()
  }

  private func schedule() {
    timer?.deadline = earliest(server.nextDeadline, streams.nextDeadline)
  }

  // MARK: Streams

  /// A client has connected. It is closed where there are too many.
  func accept(_ client: TURNServer.Client, _ connection: any ICEStreamConnection) {
    guard timer != nil else { return connection.close() }
    // From where one came before whose end was not noticed.
    if streams.connection(of: client) != nil { end(client) }
    switch streams.room(for: client) {
    case .free: break
    case .takes(let other): end(other)
    case .none: return connection.close()
    }
    streams.add(client, connection, at: loop.now)
    schedule()
  }

  private func end(_ client: TURNServer.Client) {
    streams.remove(client)?.close()
    server.clientGone(client)
  }

  func receive(_ event: ICEStreamEvent, from client: TURNServer.Client) {
    guard streams.connection(of: client) != nil else { return }
    switch event {
    case .opened: break
    case .ended: end(client)
    case .received(let bytes):
      let now = loop.now
      var isReadable = true
      guard var deframer = streams.takeDeframer(of: client) else { return }
      do throws(TURNStreamDeframer.Unreadable) {
        unsafe try deframer.append(bytes.span.bytes) { message in
          server.receive(message.bytes, from: client, at: now)
        }
      } catch {
        isReadable = false
      }
      if isReadable {
        streams.put(deframer, of: client)
      } else {
        end(client)
      }
    }
    schedule()
  }

  // MARK: TURNServerNetwork

  func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client) -> TransportAddress? {
    let wantsV4 = family == .ipv4
    let ip =
      client.local.ip.isV4 == wantsV4
      ? client.local.ip : addresses.first { $0.ip.isV4 == wantsV4 }?.ip
    guard let ip else { return nil }
    let socket: UDPSocket
    do throws(NetworkError) {
      socket = try loop.openUDP(TransportAddress(ip: ip, port: 0), handler: back)
    } catch {
      // The client hears "insufficient capacity" (RFC 8656 §7.2); why, only this log knows.
      logger.warning("no relay", metadata: ["ip": "\(ip)", "error": "\(error)"])
      return nil
    }
    relays[socket.localAddress] = Relay(socket: socket, client: client)
    streams.openedRelay(for: client)
    logger.debug("relay opened", metadata: ["relay": "\(socket.localAddress)"])
    return socket.localAddress
  }

  func closeRelay(_ relay: TransportAddress) {
    guard let gone = relays.removeValue(forKey: relay) else { return }
    gone.socket.close()
    streams.closedRelay(of: gone.client, at: loop.now)
  }

  func send(
    to client: TURNServer.Client, capacity: Int, _ write: (inout MutableRawSpan) -> Int
  ) {
    guard client.isStream else {
      return unsafe sockets.send(from: client.local, to: client.remote, capacity: capacity) {
        unsafe $0.withMutableRawSpan(write)
      }
    }
    guard let connection = streams.connection(of: client) else { return }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      count = unsafe UnsafeMutableRawBufferPointer(buffer).withMutableRawSpan(write)
    }
    if !bytes.isEmpty { connection.send(bytes) }
  }

  func sendRelayed(
    from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
    _ write: (inout MutableRawSpan) -> Int
  ) {
    unsafe relays[relay]?.socket.send(to: peer, capacity: capacity) {
      unsafe $0.withMutableRawSpan(write)
    }
  }

  // MARK: Datagrams

  // The sockets hold their handlers, which hold nobody.
  private final class Front: DatagramHandler {
    weak var service: TURNService?

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      unsafe service?.server.receive(
        UnsafeRawBufferPointer(bytes), from: .init(local: socket.localAddress, remote: source),
        at: now)
    }

    func batchEnded(at now: Instant) { service?.schedule() }
  }

  private final class Back: DatagramHandler {
    weak var service: TURNService?

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      unsafe service?.server.receiveRelayed(
        UnsafeRawBufferPointer(bytes), from: source, on: socket.localAddress, at: now)
    }
  }
}

extension ICEServerURL {
  fileprivate init(scheme: Scheme, _ address: TransportAddress, _ transport: Transport) {
    self.init(
      scheme: scheme, host: .ip(address.ip), port: address.port, transport: transport)
  }
}
