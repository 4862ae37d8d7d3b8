import SoraICE

/// The byte streams of a simulated network, and who takes them.
struct SimulatedStreamTable<Stream: AnyObject> {
  private var listeners: [TransportAddress: (Stream) -> Void] = [:]
  private var streams: [Stream] = []
  private var port = firstPort

  private static var firstPort: UInt16 { 32_768 }

  mutating func listen(
    on address: TransportAddress, _ accept: ((Stream) -> Void)?
  ) {
    listeners[address] = accept
  }

  func listener(on address: TransportAddress) -> ((Stream) -> Void)? { listeners[address] }

  /// A port for the opening end.
  mutating func nextPort() -> UInt16 {
    defer { port = port == .max ? Self.firstPort : port + 1 }
    return port
  }

  /// Keeps a stream until it is forgotten.
  mutating func keep(_ stream: Stream) { streams.append(stream) }

  mutating func forget(_ stream: Stream) { streams.removeAll { $0 === stream } }

  mutating func removeAll() {
    listeners = [:]
    streams = []
  }
}
