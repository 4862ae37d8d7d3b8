public import SoraICE
import SoraMedia
public import SoraTransport

/// Opens a transport's connections to TURN servers as streams of a simulation. Set it as the transport's `streams` and keep it.
public final class SimulatedICEStreams: ICEStreamSink {
  /// Streams that were opened, by number.
  public private(set) var streams: [Int: SimulatedStream] = [:]
  private unowned let network: SimulatedNetwork
  private let host: SimulatedHost
  private weak var transport: PeerTransport?

  public init(_ network: SimulatedNetwork, on host: SimulatedHost, for transport: PeerTransport) {
    self.network = network
    self.host = host
    self.transport = transport
    transport.streams = self
  }

  public func open(_ stream: Int, to server: ICEServer) {
    let url = server.url
    let addresses: [IPAddress] =
      switch url.host {
      case .ip(let ip): [ip]
      case .name(let name): network.names[name] ?? []
      }
    let ways = addresses.lazy.compactMap { [host] remote in
      host.addresses.first { $0.isV4 == remote.isV4 && $0.isLoopback == remote.isLoopback }
        .map { (local: $0, remote: remote) }
    }
    guard let way = ways.first else {
      network.after(.zero) { [weak transport] now in
        transport?.streamEnded(stream, reason: "no route to host", at: now)
      }
      return
    }
    let connection = network.openStream(
      from: way.local, to: TransportAddress(ip: way.remote, port: url.port),
      roundTrips: url.scheme.isSecure ? 2 : 1)
    streams[stream] = connection
    connection.onOpen = { [weak transport] now in transport?.streamOpened(stream, at: now) }
    unsafe connection.onReceive = { [weak transport] bytes, now in
      unsafe transport?.streamReceived(stream, bytes, at: now)
    }
    connection.onEnd = { [weak self, weak transport] reason, now in
      self?.streams[stream] = nil
      transport?.streamEnded(stream, reason: reason, at: now)
    }
  }

  public func send(
    _ stream: Int, capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard let connection = streams[stream] else { return }
    unsafe connection.send(bytes(capacity, write))
  }

  public func close(_ stream: Int) { streams.removeValue(forKey: stream)?.close() }
}

/// What `write` puts into memory of `capacity` bytes.
func bytes(_ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> [UInt8] {
  guard capacity > 0 else { return [] }
  return unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    unsafe buffer.initialize(repeating: 0)
    count = unsafe max(0, min(capacity, write(UnsafeMutableRawBufferPointer(buffer))))
  }
}
