import SoraMedia
import SoraSCTP

/// An end of this project's own.
final class OwnEnd: End {
  let association: SCTPAssociation
  private var packets: [[UInt8]] = []
  private var taken = 0
  private var events: [EndEvent] = []
  private var told = 0
  private(set) var abandoned: Set<UInt32>? = []
  private(set) var reason = ""
  /// The first time that `poll` left a deadline behind that was over.
  private(set) var stuckDeadline: String?

  init(
    _ settings: EndSettings, random: RandomSource,
    adjust: (inout SCTPConfiguration) -> Void = { _ in }
  ) {
    var configuration = SCTPConfiguration()
    configuration.outgoingStreams = settings.streams
    configuration.incomingStreams = settings.streams
    configuration.interleaving = settings.offersInterleaving
    configuration.mtu = settings.mtu
    configuration.maximumMTU = settings.mtu
    configuration.sendBufferLimit = settings.sendBuffer
    configuration.receiveWindow = settings.receiveBuffer
    adjust(&configuration)
    association = SCTPAssociation(configuration: configuration, random: random)
  }

  var nextDeadline: Instant? { association.nextDeadline }

  /// It answers an INIT whenever one comes.
  func listen(at now: Instant) {}
  func connect(at now: Instant) { association.connect(at: now) }

  func poll(at now: Instant) {
    association.poll(at: now)
    collectPackets(at: now)
    if let next = association.nextDeadline, next <= now, stuckDeadline == nil {
      stuckDeadline = "after poll at \(now) the next deadline is \(next)"
    }
  }

  func receive(_ packet: [UInt8], at now: Instant) {
    association.receive(packet.span.bytes, at: now)
  }

  func nextPacket(at now: Instant) -> [UInt8]? {
    if taken == packets.count { collectPackets(at: now) }
    guard taken < packets.count else { return nil }
    taken += 1
    return packets[taken - 1]
  }

  private func collectPackets(at now: Instant) {
    if taken == packets.count {
      packets.removeAll(keepingCapacity: true)
      taken = 0
    }
    association.drainPackets(at: now) { packet in
      packets.append(packet.withUnsafeBytes { Array($0) })
      return true
    }
  }

  func nextEvent() -> EndEvent? {
    while told == events.count {
      events.removeAll(keepingCapacity: true)
      told = 0
      guard let event = association.nextEvent() else { return nil }
      note(event)
    }
    told += 1
    return events[told - 1]
  }

  private func note(_ event: SCTPEvent) {
    switch event {
    case .connected(let capabilities):
      events.append(.up(interleaving: capabilities.interleaving))
    case .message(let message):
      events.append(
        .received(
          EndEvent.Received(stream: message.stream, id: message.ppid, bytes: message.payload)))
      association.recycle(message.payload)
    case .incomingStreamsReset(let streams): events += streams.map { .incomingReset($0) }
    case .outgoingStreamsReset(let streams): events += streams.map { .outgoingReset($0) }
    case .streamsResetFailed(let streams): events += streams.map { .resetFailed($0) }
    case .sendFailed(_, let token): abandoned?.insert(UInt32(truncatingIfNeeded: token))
    case .closed: events.append(.ended(.shutDown))
    case .aborted(.timeout(.initiation)), .aborted(.timeout(.cookie)):
      events.append(.ended(.neverUp))
    case .aborted(let reason):
      self.reason = "\(reason)"
      events.append(.ended(.aborted))
    case .restarted, .bufferedAmountLow, .sendBufferLow: break
    }
  }

  func send(_ message: Message, _ bytes: [UInt8], at now: Instant) -> Acceptance {
    var options = SCTPSendOptions(isUnordered: !message.isOrdered)
    switch message.reliability {
    case .reliable: break
    case .retransmissions(let count): options.maximumRetransmissions = UInt16(count)
    case .lifetime(let milliseconds): options.lifetime = .milliseconds(milliseconds)
    }
    if message.reliability != .reliable { options.token = UInt64(message.id) }
    do {
      try association.send(
        bytes.span.bytes, on: message.stream, ppid: message.id, options: options, at: now)
      return .accepted
    } catch .bufferFull, .streamClosing {
      return .later
    } catch {
      return .refused("\(error)")
    }
  }

  func reset(_ stream: UInt16, at now: Instant) -> Acceptance {
    do {
      try association.resetStreams([stream], at: now)
      return .accepted
    } catch {
      return .refused("\(error)")
    }
  }

  func shutDown(at now: Instant) { association.shutdown(at: now) }
  func abort(at now: Instant) { association.abort("test", at: now) }
}
