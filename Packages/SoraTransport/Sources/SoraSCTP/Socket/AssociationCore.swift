import SoraMedia
import SoraWire

/// The machine behind an association: its state and what waits to leave. What comes in is taken in `+Receiving`, the beginning is in
/// `+Handshake`, the end in `+Ending`, and what goes out in `+Sending`.
final class AssociationCore {
  let settings: SCTPConfiguration
  let random: RandomSource
  /// What state cookies are signed with.
  let cookieKey: SipHash

  var phase = AssociationPhase.idle
  var outbox = Outbox()
  var counters = SCTPStatistics()
  let events = EventQueue()
  let pool: BufferPool
  let messages: MessageStore
  let queue: SendQueue
  var writer: PacketWriter
  /// The packet in `writer` wasn't taken.
  var hasRefusedPacket = false
  /// What transmitters and receivers of earlier associations have counted.
  private var past = SCTPStatistics()

  init(settings: SCTPConfiguration, random: RandomSource) {
    self.settings = settings
    self.random = random
    cookieKey = SipHash(key: (random.next(), random.next()))
    pool = BufferPool(limit: settings.sendBufferLimit + settings.receiveWindow)
    messages = MessageStore(pool: pool, events: events, limit: settings.sendBufferLimit)
    queue = SendQueue(messages: messages, events: events, scheduler: settings.scheduler)
    writer = PacketWriter(capacity: settings.maximumMTU + 4)
  }

  var capabilities: SCTPCapabilities? { phase.peer?.capabilities }

  var publicState: SCTPAssociationState {
    switch phase {
    case .idle: .idle
    case .cookieWait, .cookieEchoed: .connecting
    case .established: .connected
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: .shuttingDown
    case .ended: .ended
    }
  }

  func nextEvent() -> SCTPEvent? {
    let event = events.next()
    if case .message = event { phase.peer?.receiver.readerTookMessage() }
    return event
  }

  func recycle(_ payload: consuming [UInt8]) { pool.give(payload) }

  // MARK: - Messages

  func send(
    _ payload: RawSpan, on stream: UInt16, ppid: UInt32, options: SCTPSendOptions, at now: Instant
  ) throws(SCTPSendError) {
    switch phase {
    case .idle, .cookieWait, .cookieEchoed, .established: break
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .ended:
      throw .notConnected
    }
    let count = payload.byteCount
    guard count > 0 else { throw .empty }
    guard count <= settings.maximumSentMessageSize else {
      throw .messageTooLarge(count: count, limit: settings.maximumSentMessageSize)
    }
    let streams = capabilities?.outgoingStreams ?? settings.outgoingStreams
    guard stream < streams else { throw .noSuchStream(stream, limit: streams) }
    guard !queue.isClosing(stream) else { throw .streamClosing(stream) }
    guard messages.hasRoom(count) else { throw .bufferFull(limit: settings.sendBufferLimit) }
    var memory = pool.take(count)
    memory.append(copying: payload)
    let message = OutboundMessage(
      payload: memory, stream: stream, ppid: ppid, isUnordered: options.isUnordered,
      maximumRetransmissions: options.maximumRetransmissions,
      expiresAt: options.lifetime.map { (now + $0).nanoseconds } ?? .max, token: options.token)
    queue.append(messages.add(message))
  }

  func resetStreams(_ streams: [UInt16], at now: Instant) throws(SCTPResetError) {
    guard case .established(let peer) = phase else { throw .notConnected }
    guard peer.capabilities.streamReset else { throw .unsupported }
    let known = streams.filter { $0 < peer.capabilities.outgoingStreams }
    for stream in known { queue.setClosing(true, stream) }
    peer.resets.want(known)
  }

  func bufferedAmount(of stream: UInt16) -> Int { queue.buffered(stream) }
  var totalBufferedAmount: Int { messages.bytes }
  var sendBufferUse: Int { messages.held }

  func setBufferedAmountLowThreshold(_ bytes: Int, of stream: UInt16) {
    queue.setThreshold(bytes, of: stream)
  }

  func setPriority(_ priority: UInt16, of stream: UInt16) {
    queue.setPriority(priority, of: stream)
  }

  // MARK: - Time

  var nextDeadline: Instant? {
    switch phase {
    case .idle, .ended: return nil
    case .cookieWait(let attempt): return attempt.timer.deadline
    case .cookieEchoed(let peer, let echo):
      return earliest(echo.timer.deadline, peer.transmitter.deadline)
    case .shutdownSent(let peer, let timer):
      return earliest(timer.deadline, peer.receiver.policy.deadline)
    case .shutdownAckSent(_, let timer): return timer.deadline
    case .established(let peer), .shutdownPending(let peer), .shutdownReceived(let peer):
      var next = earliest(peer.transmitter.deadline, peer.receiver.policy.deadline)
      next = earliest(next, peer.resets.deadline)
      next = earliest(next, peer.heartbeat.deadline)
      return earliest(next, peer.pathMTU.deadline)
    }
  }

  func poll(at now: Instant) {
    switch phase {
    case .idle, .ended: break
    case .cookieWait(var attempt):
      guard attempt.timer.expire(at: now) else { return }
      guard attempt.timer.expirations <= settings.maximumInitRetransmissions else {
        return end(.aborted(.timeout(.initiation)))
      }
      sendInitiation(&attempt, at: now)
      phase = .cookieWait(attempt)
    case .cookieEchoed(let peer, var echo):
      guard peer.transmitter.poll(at: now) else { return fail(.timeout(.data), peer) }
      guard echo.timer.expire(at: now) else { return }
      guard echo.timer.expirations <= settings.maximumInitRetransmissions else {
        return end(.aborted(.timeout(.cookie)))
      }
      startTimer(&echo.timer, at: now)
      echo.isDue = true
      phase = .cookieEchoed(peer, echo)
    case .shutdownSent(let peer, var timer):
      peer.receiver.policy.poll(at: now)
      guard pollEnd(&timer, peer, at: now) else { return }
      outbox.append(chunk: shutdownChunk(peer))
      phase = .shutdownSent(peer, timer)
    case .shutdownAckSent(let peer, var timer):
      guard pollEnd(&timer, peer, at: now) else { return }
      outbox.append(chunk: ChunkBytes.chunk(ChunkType.shutdownAck))
      phase = .shutdownAckSent(peer, timer)
    case .established(let peer), .shutdownPending(let peer), .shutdownReceived(let peer):
      poll(peer, at: now)
    }
  }

  /// `true` when SHUTDOWN or SHUTDOWN ACK is to be sent again; the timer runs again then.
  private func pollEnd(_ timer: inout BackoffTimer, _ peer: Peer, at now: Instant) -> Bool {
    guard timer.expire(at: now) else { return false }
    if let limit = settings.maximumRetransmissions, timer.expirations > limit {
      fail(.timeout(.shutdown), peer)
      return false
    }
    startTimer(&timer, at: now, peer)
    return true
  }

  private func poll(_ peer: Peer, at now: Instant) {
    peer.receiver.policy.poll(at: now)
    guard peer.transmitter.poll(at: now) else { return fail(.timeout(.data), peer) }
    if peer.transmitter.takeDoubtInMTU(), peer.pathMTU.suspectBlackHole(at: now) {
      peer.transmitter.setMTU(peer.pathMTU.current)
    }
    guard peer.resets.poll(at: now) else { return fail(.timeout(.streamReset), peer) }
    let isBusy = !peer.transmitter.outstanding.isEmpty
    switch peer.heartbeat.poll(isBusy: isBusy, random: random, at: now) {
    case .none: break
    case .send(let chunk): outbox.append(chunk: chunk)
    case .failed: return fail(.timeout(.heartbeat), peer)
    }
    let timeout = peer.transmitter.roundTrip.timeout
    if let probe = peer.pathMTU.poll(timeout: timeout, random: random, at: now) {
      outbox.append(packet: probe, tag: peer.tag)
    }
    advance(at: now)
  }

  func startTimer(_ timer: inout BackoffTimer, at now: Instant, _ peer: Peer? = nil) {
    let estimate = peer?.transmitter.roundTrip ?? settings.roundTripEstimate
    timer.start(at: now, timeout: estimate.timeout, longest: estimate.longest)
  }

  // MARK: - Statistics

  var statistics: SCTPStatistics {
    var result = counters
    result.receiveWindow = settings.receiveWindow - events.messageBytes
    result.messagesAbandoned = messages.abandoned
    result.mtu = settings.mtu
    result.retransmissionTimeout = settings.initialRTO
    add(past, to: &result)
    guard let peer = phase.peer else { return result }
    add(counted(by: peer), to: &result)
    let transmitter = peer.transmitter
    result.congestionWindow = transmitter.congestion.window
    result.slowStartThreshold = transmitter.congestion.threshold
    result.bytesInFlight = transmitter.outstanding.flight
    result.unacknowledgedChunks = transmitter.outstanding.count
    result.peerWindow = transmitter.openWindow
    result.receiveWindow = peer.receiver.window
    if transmitter.roundTrip.hasSample {
      result.smoothedRoundTrip = .nanoseconds(transmitter.roundTrip.smoothed)
    }
    result.retransmissionTimeout = .nanoseconds(transmitter.roundTrip.timeout)
    result.mtu = peer.pathMTU.current
    return result
  }

  /// Keeps what was counted of an association that is over.
  func rememberCounters(of peer: Peer) { add(counted(by: peer), to: &past) }

  private func counted(by peer: Peer) -> SCTPStatistics {
    var result = SCTPStatistics()
    let sent = peer.transmitter.counters
    result.messagesSent = sent.messages
    result.chunksRetransmitted = sent.retransmissions
    result.timeouts = sent.timeouts
    result.tailLossProbes = sent.probes
    result.spuriousRetransmissions = sent.spurious
    result.messagesReceived = peer.receiver.delivered
    result.duplicatesReceived = peer.receiver.duplicates
    result.dropped.data = peer.receiver.refused
    return result
  }

  private func add(_ other: SCTPStatistics, to result: inout SCTPStatistics) {
    result.messagesSent += other.messagesSent
    result.messagesReceived += other.messagesReceived
    result.chunksRetransmitted += other.chunksRetransmitted
    result.timeouts += other.timeouts
    result.tailLossProbes += other.tailLossProbes
    result.spuriousRetransmissions += other.spuriousRetransmissions
    result.duplicatesReceived += other.duplicatesReceived
    result.dropped.data += other.dropped.data
  }
}
