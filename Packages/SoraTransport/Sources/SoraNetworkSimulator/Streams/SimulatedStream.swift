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

  private struct Unsent {
    let piece: Piece
    let number: Int
    let since: Instant
  }

  enum Piece {
    /// An opening round trip of the client's, and its answer; so many more follow.
    case hello(more: Int)
    case answer(more: Int)
    case bytes([UInt8])
    case end(String)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .hello, .answer, .end: 60
      }
    }
  }

  private unowned let network: SimulatedNetwork
  private let path: SimulatedStreamPath
  private weak var other: SimulatedStream?
  private var random: SimulationRandom
  private var nextSent = 0
  private var nextReceived = 0
  private var early: [Int: Piece] = [:]
  private var latestArrival: Instant = .zero
  /// What the links didn't let through, in order, and when it is tried again.
  private var unsent: [Unsent] = []
  private var retryCallback: SimulationCallback?
  private var attempt = 0
  /// Whether the far end is about to tell of the gap.
  private var isTold = false

  init(
    network: SimulatedNetwork, local: TransportAddress, remote: TransportAddress,
    path: SimulatedStreamPath, seed: UInt64
  ) {
    self.network = network
    self.local = local
    self.remote = remote
    self.path = path
    random = SimulationRandom(seed: seed)
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
    if isOpen || nextSent > 0 { post(.end("closed by the other side")) }
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
    early = [:]
    network.forget(self)
    onOpen = nil
    unsafe onReceive = nil
    onEnd = nil
  }

  private func post(_ piece: Piece) {
    network.log.record(
      .stream, at: network.now.nanoseconds, "\(local)>\(remote) \(nextSent) \(piece.count)")
    transmit(Unsent(piece: piece, number: nextSent, since: network.now))
    nextSent += 1
  }

  private func transmit(_ piece: Unsent) {
    guard crosses(piece) else {
      unsent.append(piece)
      if retryCallback == nil { wait() }
      return
    }
    // What arrived behind a gap tells of the gap a round trip later (RFC 8985 §6.2).
    if !unsent.isEmpty, !isTold {
      isTold = true
      attempt = 0
      retry(after: max(path.roundTrip(of: network), .milliseconds(1)))
    }
  }

  private func crosses(_ piece: Unsent) -> Bool {
    guard let other, let travel = network.crossing(path, bytes: piece.piece.count, &random) else {
      retransmissions += 1
      return false
    }
    latestArrival = max(latestArrival, network.now + travel)
    network.at(latestArrival) { [weak other] _ in
      other?.arrived(piece.piece, number: piece.number)
    }
    return true
  }

  /// Sends again what was lost. While nothing gets through, only the first piece is tried.
  private func sendAgain() {
    retryCallback = nil
    isTold = false
    let pieces = unsent
    unsent = []
    var hasPassed = false
    for (index, piece) in pieces.enumerated() {
      if crosses(piece) {
        hasPassed = true
        continue
      }
      unsent.append(piece)
      if !hasPassed {
        unsent += pieces[(index + 1)...]
        break
      }
    }
    attempt = hasPassed ? 0 : attempt + 1
    if !unsent.isEmpty { wait() }
  }

  private func wait() {
    // RFC 8985 §7.2: two round trips for a piece that nothing follows; then twice as long each time.
    let first = max(path.roundTrip(of: network) * 2, .milliseconds(20))
    let pause = min(first * (1 << min(attempt, 12)), .seconds(8))
    let limit = isOpen || isEnded ? Self.userTimeout : Self.openTimeout
    let waited = unsent.first.map { network.now - $0.since } ?? .zero
    guard waited + pause < limit else {
      retryCallback = network.after(max(limit - waited, .zero)) { [self, weak other] _ in
        unsent = []
        breakOff("timed out")
        other?.breakOff("timed out")
      }
      return
    }
    retry(after: pause)
  }

  private func retry(after pause: Duration) {
    if let retryCallback { network.cancel(retryCallback) }
    retryCallback = network.after(pause) { [self] _ in sendAgain() }
  }

  private func arrived(_ piece: Piece, number: Int) {
    guard !isEnded else { return }
    early[number] = piece
    while let next = early.removeValue(forKey: nextReceived) {
      nextReceived += 1
      take(next)
      if isEnded { return }
    }
  }

  private func take(_ piece: Piece) {
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

/// The links between the ends of a stream, in one direction.
struct SimulatedStreamPath {
  var directions: [Int32]
  /// The node at the start and its address: a stream stalls while the host doesn't have it.
  var node: Int
  var address: IPAddress
  /// Likewise at the end.
  var farNode: Int
  var farAddress: IPAddress

  /// The same way back.
  var reversed: SimulatedStreamPath {
    SimulatedStreamPath(
      directions: directions.reversed().map { $0 ^ 1 }, node: farNode, address: farAddress,
      farNode: node, farAddress: address)
  }

  /// The round trip of links that are idle.
  func roundTrip(of network: SimulatedNetwork) -> Duration {
    var sum = Duration.zero
    for index in directions {
      sum += network.topology.direction(index).conditions.delay
      sum += network.topology.direction(index ^ 1).conditions.delay
    }
    return sum
  }
}
