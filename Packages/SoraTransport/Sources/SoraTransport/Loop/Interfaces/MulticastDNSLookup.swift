public import SoraICE
public import SoraMedia

/// One name asked for over multicast, on a loop: the socket and the timer around `MulticastDNS`. Keeps itself until it is done.
public final class MulticastDNSLookup {
  private let loop: NetworkLoop
  private let group: TransportAddress
  private let interfaces: [IPAddress]
  private var query: MulticastDNS
  private var done: ((IPAddress?) -> Void)?
  private var sockets: [UDPSocket] = []
  private var timer: LoopTimer?

  /// On the loop.
  ///
  /// - Parameters:
  ///   - name: what to look up, such as `x.local`.
  ///   - loop: the loop that its socket is on.
  ///   - interfaces: addresses of the interfaces to ask on; IPv6 ones are left out, since responders answer for both on either.
  ///   - random: for the query's identifier.
  ///   - group: where queries go; another address than the standard's is for tests.
  ///   - done: called once, on the loop, with the first address that was answered, or `nil` after 3.75 s.
  public init?(
    _ name: String, on loop: NetworkLoop, from interfaces: [IPAddress], random: RandomSource,
    group: TransportAddress = MulticastDNS.groupV4, _ done: @escaping (IPAddress?) -> Void
  ) {
    guard let query = MulticastDNS(name, random: random) else { return nil }
    self.loop = loop
    self.interfaces = interfaces.filter(\.isV4)
    self.query = query
    self.group = group
    self.done = done
  }

  /// Sends the first query.
  public func start() {
    for ip in interfaces.prefix(16) {
      // The kernel sends a multicast datagram over the interface that has its source address.
      if let socket = try? loop.openUDP(TransportAddress(ip: ip, port: 0), handler: self) {
        sockets.append(socket)
      }
    }
    timer = loop.makeTimer { [self] now in advance(at: now) }
    advance(at: loop.now)
  }

  private func advance(at now: Instant) {
    switch query.poll(at: now) {
    case .nothing: break
    case .send(let bytes):
      for socket in sockets {
        unsafe socket.send(to: group, capacity: bytes.count) { slot in
          unsafe slot.copyBytes(from: bytes)
          return bytes.count
        }
      }
    case .giveUp: return finish(nil)
    }
    timer?.deadline = query.nextDeadline
  }

  private func finish(_ address: IPAddress?) {
    guard let done else { return }
    self.done = nil
    timer?.cancel()
    timer = nil
    for socket in sockets { socket.close() }
    sockets = []
    done(address)
  }
}

extension MulticastDNSLookup: DatagramHandler {
  public func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    if let address = unsafe query.receive(UnsafeRawBufferPointer(bytes)) { finish(address) }
  }
}
