public import SoraICE
public import SoraMedia

/// One end of a byte stream between two hosts, as TCP makes one: nothing is lost, order is kept, and what the links lose or hold back
/// comes late.
///
/// Bytes cross the links that lay between the hosts when the stream was opened: each adds its delay, jitter, sending time and what
/// waits in its queue; a lost piece is sent again after a doubling timeout and holds back those behind it. Streams take no room in
/// queues, and there is no congestion control. Routers are asked once, at the opening. Confined to the network's thread.
@safe public final class SimulatedStream {
  /// Our address and port.
  public let local: TransportAddress
  /// The other end, as it is seen from here: behind a NAT its outside address.
  public let remote: TransportAddress
  public private(set) var isOpen = false
  public private(set) var isEnded = false
  /// It may be sent on.
  public var onOpen: ((Instant) -> Void)?
  /// The next bytes, lent for the call.
  public var onReceive: ((UnsafeRawBufferPointer, Instant) -> Void)?
  /// It was closed or broken by something other than `close`; the last call.
  public var onEnd: ((_ reason: String, Instant) -> Void)?
  public private(set) var bytesSent = 0
  public private(set) var bytesReceived = 0
  /// Pieces that the links lost or refused, and were sent again.
  public private(set) var retransmissions = 0

  /// How long a piece is sent again before the stream is given up (RFC 5482), and an opening.
  static let userTimeout = Duration.seconds(20)
  static let openTimeout = Duration.seconds(10)

  private unowned let network: SimulatedNetwork
  private var crossing: StreamCrossing
  private weak var other: SimulatedStream?
  private var inbound = PieceReassembly()
  private var outbound = PieceRetransmission()

  init(
    network: SimulatedNetwork, local: TransportAddress, remote: TransportAddress,
    path: SimulatedStreamPath, seed: UInt64
  ) {
    self.network = network
    self.local = local
    self.remote = remote
    crossing = StreamCrossing(path: path, random: SimulationRandom(seed: seed))
  }

  /// Sends bytes. Before the opening and after the end they are dropped.
  public func send(_ bytes: [UInt8]) {
    guard isOpen, !isEnded, !bytes.isEmpty else { return }
    bytesSent += bytes.count
    post(.bytes(bytes))
  }

  /// Closes both ends. What was sent before still arrives.
  public func close() {
    guard !isEnded else { return }
    // Also while it is being opened: the other end may be open already.
    if isOpen || outbound.hasBegun { post(.end("closed by the other side")) }
    finish()
  }

  // MARK: Inside

  func join(_ other: SimulatedStream) { self.other = other }

  func begin(roundTrips: Int) { post(.hello(more: max(1, roundTrips) - 1)) }

  func breakOff(_ reason: String) {
    guard !isEnded else { return }
    let tell = onEnd
    finish()
    tell?(reason, network.now)
  }

  private func finish() {
    isOpen = false
    isEnded = true
    inbound.removeAll()
    network.forget(self)
    onOpen = nil
    unsafe onReceive = nil
    onEnd = nil
  }

  private func post(_ piece: StreamPiece) {
    let next = outbound.number(piece, at: network.now)
    network.log.record(
      .stream, at: network.now.nanoseconds, "\(local)>\(remote) \(next.number) \(piece.count)")
    guard crosses(next) else {
      outbound.insert(next)
      if outbound.callback == nil { wait() }
      return
    }
    // The far end's word takes a round trip.
    if outbound.tellOfGap() { retry(after: max(roundTrip, .milliseconds(1))) }
  }

  private func crosses(_ piece: NumberedPiece) -> Bool {
    guard let other, let arrival = crossing.arrival(of: piece.piece.count, in: network) else {
      retransmissions += 1
      return false
    }
    network.at(arrival) { [weak other] _ in other?.arrived(piece) }
    return true
  }

  private var roundTrip: Duration { network.roundTrip(of: crossing.path) }

  private func sendAgain() {
    outbound.sendAgain { crosses($0) }
    if !outbound.isEmpty { wait() }
  }

  private func wait() {
    let pause = outbound.pause(roundTrip: roundTrip)
    let limit = isOpen || isEnded ? Self.userTimeout : Self.openTimeout
    let waited = outbound.waited(at: network.now)
    guard waited + pause < limit else {
      outbound.callback = network.after(max(limit - waited, .zero)) { [self, weak other] _ in
        outbound.removeAll()
        breakOff("timed out")
        other?.breakOff("timed out")
      }
      return
    }
    retry(after: pause)
  }

  private func retry(after pause: Duration) {
    if let callback = outbound.callback { network.cancel(callback) }
    outbound.callback = network.after(pause) { [self] _ in sendAgain() }
  }

  private func arrived(_ piece: NumberedPiece) {
    guard !isEnded else { return }
    inbound.insert(piece)
    while let next = inbound.next() {
      take(next)
      if isEnded { return }
    }
  }

  private func take(_ piece: StreamPiece) {
    switch piece {
    case .hello(let more):
      guard isOpen || accept() else {
        post(.end("connection refused"))
        return finish()
      }
      post(.answer(more: more))
    case .answer(let more):
      if more > 0 { return post(.hello(more: more - 1)) }
      isOpen = true
      onOpen?(network.now)
    case .bytes(let bytes):
      bytesReceived += bytes.count
      unsafe bytes.withUnsafeBytes { unsafe onReceive?($0, network.now) }
    case .end(let reason): breakOff(reason)
    }
  }

  private func accept() -> Bool {
    guard let listener = network.streams.listener(on: local) else { return false }
    isOpen = true
    listener(self)
    return true
  }
}

/// How pieces of a stream cross its links: in order, however long each takes.
private struct StreamCrossing {
  let path: SimulatedStreamPath
  private var random: SimulationRandom
  private var latestArrival: Instant = .zero

  init(path: SimulatedStreamPath, random: SimulationRandom) {
    self.path = path
    self.random = random
  }

  /// When a piece that sets out now arrives; nil where the links lose it.
  mutating func arrival(of bytes: Int, in network: SimulatedNetwork) -> Instant? {
    guard let travel = network.crossing(path, bytes: bytes, &random) else { return nil }
    latestArrival = max(latestArrival, network.now + travel)
    return latestArrival
  }
}
