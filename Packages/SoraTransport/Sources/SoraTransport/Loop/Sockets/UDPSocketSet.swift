public import SoraWire

/// The sockets of one connection, chosen by their local address: the `DatagramSink` over real sockets. Confined to
/// the sockets' loop.
public final class UDPSocketSet: DatagramSink {
  /// The sockets. A connection has one for each address of the host, so a search from the front is the fastest.
  public private(set) var sockets: [UDPSocket] = []
  /// Datagrams that named a local address that isn't there.
  public private(set) var unknownLocalAddress: UInt64 = 0

  public init() {}

  /// Adds a socket.
  public func insert(_ socket: UDPSocket) { sockets.append(socket) }

  /// The socket that is bound to `local`.
  public subscript(local: TransportAddress) -> UDPSocket? {
    for socket in sockets where socket.localAddress == local { return socket }
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
    sockets.removeAll { $0.localAddress == local }
  }

  /// Closes all sockets.
  public func close() {
    for socket in sockets { socket.close() }
    sockets = []
  }
}
