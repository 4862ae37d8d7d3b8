import SoraClock
import SoraICE
import SoraMedia
import SoraTransport

/// A gatherer on real sockets of a loop, and a peer on the loopback that sends back what it gets. Confined to the loop.
final class RelayProbe: DatagramHandler {
  private(set) var relay: TransportAddress?
  private(set) var reflexive: [TransportAddress] = []
  private(set) var failures: [ICEServerFailure] = []
  private(set) var isComplete = false
  private var hasGivenUp = false
  /// What came back from the peer through the relay.
  private(set) var received: [[UInt8]] = []
  let peer: TransportAddress

  private let loop: NetworkLoop
  private let gatherer: ICEGatherer
  private let sockets = UDPSocketSet()
  private let echoSocket: UDPSocket
  private let echo = Echo()
  private let streams: ICEStreamSet?
  private var timer: LoopTimer?
  private var waiters:
    [(condition: (RelayProbe) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
      []

  init(
    _ server: ICEServer, on ip: IPAddress, connector: (any ICEStreamConnector)? = nil,
    loop: NetworkLoop
  ) throws {
    self.loop = loop
    var configuration = ICEGatherer.Configuration()
    configuration.servers = [server]
    gatherer = ICEGatherer(configuration: configuration, random: .system())
    streams = connector.map { ICEStreamSet(loop: loop, connector: $0) }
    echoSocket = try loop.openUDP(TransportAddress(ip: ip, port: 0), handler: echo)
    peer = echoSocket.localAddress
    sockets.insert(try loop.openUDP(TransportAddress(ip: ip, port: 0), handler: self))
    streams?.onEvent = { [unowned self] stream, event, now in
      switch event {
      case .opened: gatherer.streamOpened(stream, at: now)
      case .received(let bytes):
        bytes.withUnsafeBytes { bytes in
          gatherer.streamReceived(stream, bytes, at: now) { payload, from, _ in
            if from == peer { received.append([UInt8](copying: payload.bytes)) }
          }
        }
      case .ended(let reason): gatherer.streamEnded(stream, reason: reason, at: now)
      }
      settle()
    }
    timer = loop.makeTimer { [unowned self] now in
      gatherer.poll(at: now)
      settle()
    }
  }

  func start() {
    gatherer.start(bases: sockets.sockets.map(\.localAddress), at: loop.now)
    gatherer.permit(peer.ip, at: loop.now)
    settle()
  }

  func bindChannel() {
    guard let relay else { return }
    gatherer.bindChannel(relay, to: peer, at: loop.now)
    settle()
  }

  func send(_ bytes: [UInt8]) {
    guard let relay, let way = gatherer.relay(at: relay) else { return }
    let capacity = bytes.count + ICERelay.maximumOverhead
    let write = { [self] (slot: UnsafeMutableRawBufferPointer) in
      way.write(to: peer, into: slot) { body in
        body.copyBytes(from: bytes)
        return bytes.count
      }
    }
    if let base = way.base {
      sockets.send(from: base, to: way.serverAddress, capacity: capacity, write)
    } else if let stream = way.stream {
      streams?.send(stream, capacity: capacity, write)
    }
  }

  func close() {
    gatherer.close(at: loop.now)
    settle()
    timer?.cancel()
    timer = nil
    streams?.close()
    sockets.close()
    echoSocket.close()
  }

  func wait(
    for condition: @escaping (RelayProbe) -> Bool, _ continuation: CheckedContinuation<Void, Never>
  ) {
    if hasGivenUp || condition(self) { return continuation.resume() }
    waiters.append((condition, continuation))
  }

  /// Lets everybody go who waits now or later.
  func giveUp() {
    hasGivenUp = true
    for waiter in waiters { waiter.continuation.resume() }
    waiters = []
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    if case .relayed(let payload, let from, _) = gatherer.receive(
      bytes, from: source, on: socket.localAddress, at: now), from == peer
    {
      received.append(Array(bytes[payload]))
    }
    settle()
  }

  private func settle() {
    while let event = gatherer.nextEvent() {
      switch event {
      case .found(let found):
        if found.type == .relay { relay = found.address } else { reflexive.append(found.address) }
      case .resolve(let name): gatherer.resolved(name, to: [], at: loop.now)
      case .openStream(let stream, let server): streams?.open(stream, to: server)
      case .closeStream(let stream): streams?.close(stream)
      case .failed(let failure): failures.append(failure)
      case .lost: relay = nil
      case .complete: isComplete = true
      }
    }
    while let transmit = gatherer.nextTransmit() {
      switch transmit {
      case .datagram(let from, let to, let bytes):
        sockets.send(from: from, to: to, capacity: bytes.count) { slot in
          slot.copyBytes(from: bytes)
          return bytes.count
        }
      case .stream(let stream, let bytes):
        streams?.send(stream, capacity: bytes.count) { slot in
          slot.copyBytes(from: bytes)
          return bytes.count
        }
      }
    }
    timer?.deadline = gatherer.nextDeadline
    let ready = waiters.filter { $0.condition(self) }
    waiters.removeAll { $0.condition(self) }
    for waiter in ready { waiter.continuation.resume() }
  }

  private final class Echo: DatagramHandler {
    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      socket.send(to: source, capacity: bytes.count) { slot in
        slot.copyMemory(from: UnsafeRawBufferPointer(bytes))
        return bytes.count
      }
    }
  }
}

/// A probe from outside its loop.
struct Probe {
  private let bound: LoopBound<RelayProbe>

  init(
    _ server: ICEServer, on ip: IPAddress = .loopbackV4,
    connector: (any ICEStreamConnector)? = nil
  ) async throws {
    let loop = try NetworkLoop.make()
    bound = try await loop.run {
      Result {
        LoopBound(try RelayProbe(server, on: ip, connector: connector, loop: loop), loop: loop)
      }
    }.get()
    await run { $0.start() }
  }

  func run<Value: Sendable>(_ body: @escaping @Sendable (RelayProbe) -> Value) async -> Value {
    await bound.loop.run { [bound] in body(bound.value) }
  }

  /// Waits until something is so; gives up when the test's time is over.
  func wait(for condition: @escaping @Sendable (RelayProbe) -> Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        bound.loop.execute { [bound] in bound.value.wait(for: condition, continuation) }
      }
    } onCancel: {
      bound.loop.execute { [bound] in bound.value.giveUp() }
    }
  }

  /// Sends datagrams of several sizes through the relay, before the channel is bound and after, until each has come back.
  func exchange() async {
    for size in [1, 3, 160, 1200] {
      await run { $0.send([UInt8](repeating: UInt8(size % 251), count: size)) }
      await wait { $0.received.contains { $0.count == size } }
    }
    await run { $0.bindChannel() }
    for size in [2, 5, 161, 1199] {
      await run { $0.send([UInt8](repeating: UInt8(size % 251), count: size)) }
      await wait { $0.received.contains { $0.count == size } }
    }
  }

  func close() async {
    await run { $0.close() }
    bound.loop.shutdown()
  }
}
