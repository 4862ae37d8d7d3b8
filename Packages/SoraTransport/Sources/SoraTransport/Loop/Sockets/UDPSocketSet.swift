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
