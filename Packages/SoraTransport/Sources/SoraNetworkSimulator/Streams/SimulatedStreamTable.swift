import SoraICE

/// The byte streams of a simulated network, and who takes them.
struct SimulatedStreamTable {
  private var listeners: [TransportAddress: (SimulatedStream) -> Void] = [:]
  private var streams: [SimulatedStream] = []
  private var port = firstPort

  private static let firstPort: UInt16 = 32_768

  mutating func listen(
    on address: TransportAddress, _ accept: ((SimulatedStream) -> Void)?
  ) {
    listeners[address] = accept
  }

  func listener(on address: TransportAddress) -> ((SimulatedStream) -> Void)? { listeners[address] }

  /// A port for the opening end.
  mutating func nextPort() -> UInt16 {
    defer { port = port == .max ? Self.firstPort : port + 1 }
    return port
  }

  /// Keeps a stream until it is forgotten.
  mutating func keep(_ stream: SimulatedStream) { streams.append(stream) }

  mutating func forget(_ stream: SimulatedStream) { streams.removeAll { $0 === stream } }

  mutating func removeAll() {
    listeners = [:]
    streams = []
  }
}
