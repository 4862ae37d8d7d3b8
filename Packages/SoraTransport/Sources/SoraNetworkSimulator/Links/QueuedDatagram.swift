public import SoraICE

/// A datagram that leaves a link's queue.
public struct QueuedDatagram: Sendable {
  public var source: TransportAddress
  public var destination: TransportAddress
  /// Headers of UDP and IP included.
  public var wireBytes: Int
  /// How long it was in the queue.
  public var waited: Duration
}
