public import SoraWire

/// The sockets of one connection, chosen by their local address: the `DatagramSink` over real sockets. Confined to
/// the sockets' loop.
public final class UDPSocketSet: DatagramSink {
  /// The sockets.
  public var sockets: [UDPSocket] { open }
  /// Datagrams that named a local address that isn't there.
  public private(set) var unknownLocalAddress: UInt64 = 0

  // Not the public property itself, whose every use would be checked for overlapping access.
  @safe @exclusivity(unchecked) private var open: [UDPSocket] = []

  public init() {}

  /// Adds a socket.
  public func insert(_ socket: UDPSocket) { open.append(socket) }

  /// Opens a socket on each address. One that can't be bound, as where its interface has just gone down, costs no other.
  ///
  /// - Parameters:
  ///   - ips: of this host.
  ///   - port: on every address; 0 takes free ones.
  ///   - sharesPort: whether a free port that was taken for the first address serves for the others too, where it can.
  ///   - loop: what they are served by.
  ///   - handler: is handed what arrives.
  /// - Returns: the addresses that have none, and why.
  public func open(
    _ ips: [IPAddress], port: UInt16 = 0, sharesPort: Bool = false, on loop: NetworkLoop,
    handler: any DatagramHandler
  ) -> [(ip: IPAddress, error: NetworkError)] {
    var failures: [(ip: IPAddress, error: NetworkError)] = []
    for ip in ips {
      let wanted = port == 0 && sharesPort ? open.first?.localAddress.port ?? 0 : port
      do throws(NetworkError) {
        insert(try loop.openUDP(TransportAddress(ip: ip, port: wanted), handler: handler))
      } catch {
        failures.append((ip, error))
      }
    }
    return failures
  }

  /// The socket that is bound to `local`.
  public subscript(local: TransportAddress) -> UDPSocket? {
    // A connection has one for each address of the host, so a search from the front is the fastest.
    for index in open.indices where open[index].localAddress == local { return open[index] }
    return nil
  }

  public func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint = .notECT,
    capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard let socket = self[local] else {
      unknownLocalAddress &+= 1
      return
    }
    unsafe socket.send(to: remote, ecn: ecn, capacity: capacity, write)
  }

  /// Closes the socket that is bound to `local`, and lets go of it.
  public func remove(_ local: TransportAddress) {
    self[local]?.close()
    open.removeAll { $0.localAddress == local }
  }

  /// Closes all sockets.
  public func close() {
    for socket in open { socket.close() }
    open = []
  }
}
