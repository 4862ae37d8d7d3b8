import SoraICE
public import SoraMedia

/// One transfer in the manner of TCP between two hosts of a `SimulatedNetwork`, to compete with media: a sender with a congestion
/// window, selective acknowledgements and a retransmission timer, and a receiver that delays acknowledgements.
///
/// It behaves like TCP on the wire (sizes included: 1,500 bytes of IP for a full segment, 52 for an acknowledgement) and carries no
/// content. Connections are open from the start. Confined to the network's thread.
public final class SimulatedTCPFlow {
  /// Bytes of content in a full segment: 1,500 less the headers of IPv4 and TCP with timestamps.
  public static let segmentContent = 1_448

  private let network: SimulatedNetwork
  private let sender: SimulatedTCPSender
  private let receiver: SimulatedTCPReceiver

  /// - Parameters:
  ///   - network: the network that it is part of.
  ///   - source: the host that sends.
  ///   - destination: the host that receives.
  ///   - algorithm: its congestion control.
  public init(
    _ network: SimulatedNetwork, from source: SimulatedHost, to destination: SimulatedHost,
    algorithm: SimulatedTCPAlgorithm = .cubic
  ) {
    self.network = network
    let local = network.freePort(on: source.addresses[0])
    let remote = network.freePort(on: destination.addresses[0])
    sender = SimulatedTCPSender(network, from: local, to: remote, algorithm: algorithm)
    receiver = SimulatedTCPReceiver(network, on: remote, to: local)
    network.bind(sender, to: local)
    network.bind(receiver, to: remote)
  }

  /// Sends `bytes` more, in full segments; `nil` for no end.
  public func send(_ bytes: Int?) {
    let more = bytes.map { Int64(($0 + Self.segmentContent - 1) / Self.segmentContent) }
    sender.send(segments: more ?? .max / 2, at: network.now)
    network.deadlinesChanged()
  }

  /// Sends nothing new any more.
  public func stop() { sender.stop() }

  /// Whether all that was to be sent has been acknowledged.
  public var isDone: Bool { sender.isDone }
  /// Called when all that was to be sent has been acknowledged.
  public var onDone: ((Instant) -> Void)? {
    get { sender.onDone }
    set { sender.onDone = newValue }
  }
  /// Bytes of content that have come in order.
  public var bytesReceived: Int { Int(receiver.expected) * Self.segmentContent }
  /// Bytes on the wire that have come, IP headers included, segments that were there already too.
  public var wireBytesReceived: Int { receiver.wireBytes }
  /// Segments that may be on the way.
  public var window: Double { sender.window.size }
  /// Segments that were sent again, and how often the timer ran out.
  public var retransmissions: Int { sender.retransmissions }
  public var timeouts: Int { sender.timeouts }
}
