import SoraDataChannel
import SoraMedia
import SoraSCTP

/// One end of a pair, with what it was told.
final class SessionEnd {
  let session: DataChannelSession
  private(set) var events: [DataChannelEvent] = []
  /// Whether events wait.
  var isPaused = false

  init(_ configuration: DataChannelConfiguration, seed: UInt64) {
    session = DataChannelSession(configuration: configuration, random: RandomSource(seed: seed))
  }

  func read(at now: Instant) {
    while !isPaused, let event = session.nextEvent(at: now) { events.append(event) }
  }

  /// Messages of a channel, as text or as a count of bytes.
  func messages(_ id: DataChannelID) -> [DataChannelMessage] {
    events.compactMap { event in
      if case .message(id, let message) = event { message } else { nil }
    }
  }

  var announced: [(id: DataChannelID, parameters: DataChannelParameters, stream: UInt16)] {
    events.compactMap { event in
      if case .announced(let id, let parameters, let stream) = event {
        (id, parameters, stream)
      } else {
        nil
      }
    }
  }

  func stream(_ id: DataChannelID) -> UInt16? {
    for case .opened(id, let stream) in events { return stream }
    return nil
  }

  func failure(_ id: DataChannelID) -> DataChannelFailure?? {
    for case .closed(id, let failure) in events { return failure }
    return nil
  }

  func isClosed(_ id: DataChannelID) -> Bool { failure(id) != nil }
}

/// Two sessions with a link between them that takes time and may lose packets.
final class SessionPair {
  let client: SessionEnd
  let server: SessionEnd
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  var loss = 0.0
  let delay: Duration
  private let random: RandomSource
  private var onTheWay: [(at: Instant, toServer: Bool, packet: [UInt8])] = []

  init(
    client: DataChannelConfiguration = DataChannelConfiguration(),
    server: DataChannelConfiguration = DataChannelConfiguration(),
    delay: Duration = .milliseconds(5), seed: UInt64 = 1
  ) {
    self.client = SessionEnd(client, seed: seed &* 2)
    self.server = SessionEnd(server, seed: seed &* 2 &+ 1)
    self.delay = delay
    random = RandomSource(seed: seed)
  }

  func connect(maximumMessageSize: UInt64 = 262_144) {
    client.session.connect(
      to: DataChannelPeer(isClient: true, maximumMessageSize: maximumMessageSize), at: now)
    server.session.connect(
      to: DataChannelPeer(isClient: false, maximumMessageSize: maximumMessageSize), at: now)
  }

  /// Lets time pass until `isDone`; whether it came to that.
  @discardableResult
  func run(for limit: Duration = .seconds(30), until isDone: () -> Bool = { false }) -> Bool {
    let end = now + limit
    while true {
      flush()
      if isDone() { return true }
      var next = onTheWay.first?.at
      for side in [client, server] {
        if let deadline = side.session.nextDeadline { next = min(next ?? deadline, deadline) }
      }
      guard let next, next <= end else {
        now = end
        return isDone()
      }
      now = max(now, next)
      while let first = onTheWay.first, first.at <= now {
        onTheWay.removeFirst()
        let side = first.toServer ? server : client
        side.session.receive(first.packet.span.bytes, at: now)
        side.read(at: now)
      }
      for side in [client, server] where side.session.nextDeadline.map({ $0 <= now }) == true {
        side.session.poll(at: now)
      }
    }
  }

  private func flush() {
    for side in [client, server] {
      side.read(at: now)
      side.session.drainPackets(at: now) { packet in
        let isLost = Double(random.next() % 1000) < loss * 1000
        if !isLost {
          onTheWay.append(
            (now + delay, side === client, packet.withUnsafeBytes { [UInt8]($0) }))
        }
        return true
      }
    }
  }
}

extension DataChannelSession {
  func send(_ text: String, on id: DataChannelID, at now: Instant) throws(DataChannelError) {
    let bytes = Array(text.utf8)
    try send(bytes.span.bytes, isText: true, on: id, at: now)
  }

  func send(_ bytes: [UInt8], on id: DataChannelID, at now: Instant) throws(DataChannelError) {
    try send(bytes.span.bytes, isText: false, on: id, at: now)
  }
}
