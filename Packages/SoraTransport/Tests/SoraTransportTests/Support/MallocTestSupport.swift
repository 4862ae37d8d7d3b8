import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire
import Testing

extension Trait where Self == ConditionTrait {
  /// Only optimized code is free of allocations: without the optimizer, Swift's own plumbing allocates.
  static var needsOptimizer: Self {
    #if DEBUG
      .disabled("only optimized code is free of allocations")
    #else
      .enabled(if: true)
    #endif
  }
}

/// Keeps datagrams in memory of its own once it is told to, so that nothing but what is tested is measured.
final class RingSink: DatagramSink {
  private unowned let network: SimulatedNetwork
  private let memory: UnsafeMutableRawBufferPointer
  private var labels: [Label]
  private(set) var count = 0
  var isKept = false
  static let slot = 1500
  static let slots = 4096

  private struct Label {
    var size = 0
    var source = TransportAddress(ip: .loopbackV4, port: 0)
    var destination = TransportAddress(ip: .loopbackV4, port: 0)
  }

  init(_ network: SimulatedNetwork) {
    self.network = network
    memory = .allocate(byteCount: Self.slot * Self.slots, alignment: 16)
    labels = Array(repeating: Label(), count: Self.slots)
  }

  deinit { memory.deallocate() }

  func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard isKept else {
      return network.send(from: local, to: remote, ecn: ecn, capacity: capacity, write)
    }
    guard count < Self.slots, capacity <= Self.slot else { return }
    let written = write(self[slot: count])
    guard written > 0 else { return }
    labels[count] = Label(size: written, source: local, destination: remote)
    count += 1
  }

  private subscript(slot index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: memory[index * Self.slot..<(index + 1) * Self.slot])
  }

  /// Gives every datagram to `endpoint`, except those that `loses` picks.
  func deliver(
    to endpoint: any SimulatedEndpoint, at now: Instant, loses: (Int) -> Bool = { _ in false }
  ) {
    for index in 0..<count where !loses(index) {
      endpoint.received(
        self[index], from: labels[index].source, on: labels[index].destination, ecn: .notECT,
        at: now)
    }
    count = 0
  }

  /// Lends every datagram to `body`.
  func drain(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
    for index in 0..<count { body(self[index]) }
    count = 0
  }

  private subscript(index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[slot: index][..<labels[index].size])
  }
}
