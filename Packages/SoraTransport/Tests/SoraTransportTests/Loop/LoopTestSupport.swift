import SoraICE
import SoraMedia
import SoraTransport
import SoraWire

/// A counting handler: keeps what arrives and resumes those who wait for an amount of it. Confined to its loop.
final class LoopRecorder: DatagramHandler {
  struct Datagram: Equatable {
    var bytes: [UInt8]
    var source: TransportAddress
    var ecn = ECNCodepoint.notECT
  }

  var datagrams: [Datagram] = []
  var count = 0
  var batches = 0
  /// Whom it hears, if not everybody: to a port that another test has just closed, others may go on sending.
  var source: TransportAddress?
  /// Whether to keep the bytes.
  var keeps = true
  var onDatagram: ((UnsafeMutableRawBufferPointer, TransportAddress, UDPSocket, Instant) -> Void)?
  var onBatchEnd: ((Instant) -> Void)?
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    if let expected = self.source, expected != source { return }
    count += 1
    if keeps {
      datagrams.append(
        Datagram(bytes: Array(bytes), source: source, ecn: socket.receivedECN))
    }
    onDatagram?(bytes, source, socket, now)
    if !waiters.isEmpty {
      let ready = waiters.filter { $0.count <= count }
      waiters.removeAll { $0.count <= count }
      for waiter in ready { waiter.continuation.resume() }
    }
  }

  func batchEnded(at now: Instant) {
    batches += 1
    onBatchEnd?(now)
  }

  func notify(at count: Int, _ continuation: CheckedContinuation<Void, Never>) {
    if self.count >= count { return continuation.resume() }
    waiters.append((count, continuation))
  }
}

/// A socket with its inbox, on a loop, for tests that stand outside.
actor LoopEndpoint {
  let loop: NetworkLoop
  let inbox = LoopRecorder()
  private(set) var socket: UDPSocket?

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(_ loop: NetworkLoop) { self.loop = loop }

  /// - Parameter source: whom it hears; nil for everybody.
  func open(_ ip: IPAddress, from source: TransportAddress? = nil) throws -> TransportAddress {
    inbox.source = source
    let socket = try loop.openUDP(TransportAddress(ip: ip, port: 0), handler: inbox)
    self.socket = socket
    return socket.localAddress
  }

  /// Sends each of `datagrams` to `destination`, all in one turn.
  func send(_ datagrams: [[UInt8]], to destination: TransportAddress) {
    for bytes in datagrams {
      socket?.send(to: destination, capacity: bytes.count) { memory in
        memory.copyBytes(from: bytes)
        return bytes.count
      }
    }
  }

  /// Returns when `count` datagrams have arrived in all.
  func received(_ count: Int) async -> [LoopRecorder.Datagram] {
    await withCheckedContinuation { inbox.notify(at: count, $0) }
    return inbox.datagrams
  }

  /// Sends back everything that arrives.
  func echo() {
    inbox.onDatagram = { bytes, source, socket, _ in
      socket.send(to: source, capacity: bytes.count) { memory in
        memory.copyMemory(from: UnsafeRawBufferPointer(bytes))
        return bytes.count
      }
    }
  }

  func with<Result: Sendable>(_ body: @Sendable (isolated LoopEndpoint) throws -> Result) rethrows
    -> Result
  {
    try body(self)
  }

  var statistics: NetworkStatistics { socket?.statistics ?? NetworkStatistics() }
  var batches: Int { inbox.batches }
  var count: Int { inbox.count }
  var isClosed: Bool { socket?.isClosed ?? true }
  var openSockets: Int { loop.openSockets }
  var loopStatistics: NetworkStatistics { loop.statistics }

  func close() { socket?.close() }
}

/// A datagram of `size` bytes that tells its number and can be checked.
func numberedDatagram(_ number: Int, size: Int) -> [UInt8] {
  var bytes = (0..<max(4, size)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
  for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  return bytes
}
