public import SoraWire

/// Where datagrams leave: a network loop's sockets, or a simulated network.
///
/// Confined to the loop (or simulation) that its owner runs on.
public protocol DatagramSink: AnyObject {
  /// Lends memory for one datagram and queues what `write` put there.
  ///
  /// - Parameters:
  ///   - local: the local transport address to send from; one that the sink knows, or the datagram is dropped.
  ///   - remote: where the datagram goes.
  ///   - ecn: what its IP header is to say.
  ///   - capacity: bytes that `write` may need at most. A sink lends at least as many, or drops.
  ///   - write: fills the memory from its start and returns how many bytes count; 0 sends nothing.
  func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int)

  /// Datagrams from a local address that were lost on this host: full queues, errors of sockets. A sink that doesn't know says 0.
  func packetsDiscarded(from local: TransportAddress) -> UInt64
}

extension DatagramSink {
  public func packetsDiscarded(from local: TransportAddress) -> UInt64 { 0 }
}
