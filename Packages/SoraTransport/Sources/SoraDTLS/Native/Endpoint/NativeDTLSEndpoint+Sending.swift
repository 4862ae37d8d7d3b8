import SoraMedia
import SoraWire

extension NativeDTLSEndpoint {
  /// A fragment shorter than this isn't worth a record while a new datagram has room for more.
  private static let fragmentMinimum = 48
  /// Timeouts after which datagrams become smaller, as a path may swallow large ones (RFC 9147 §4.4).
  private static let timeoutsBeforeSmallDatagrams = 3
  /// What fits every path of IPv4 and IPv6.
  private static let smallDatagram = 548

  // MARK: - Messages

  /// Numbers a message, adds it to the transcript, and makes it a part of a flight.
  func makeMessage(_ type: UInt8, _ body: [UInt8], epoch: UInt64) -> Flight.Message {
    let message = HandshakeMessage(type: type, sequence: nextSequence, body: body)
    nextSequence &+= 1
    negotiation.transcript.add(message)
    return Flight.Message(content: .handshake(message), epoch: epoch)
  }

  // MARK: - Flights

  /// Sends a flight.
  ///
  /// - Parameter awaitsAnswer: it is sent again on a timer until it is answered or acknowledged. Others are sent again only
  ///   where the peer repeats itself.
  func send(
    _ messages: [Flight.Message], awaitsAnswer: Bool, at now: Instant
  ) throws(HandshakeFailure) {
    var timeout = settings.firstTimeout
    if let roundTrip = flight?.roundTrip { timeout = max(timeout, roundTrip * 3 / 2) }
    timeout = min(timeout, settings.longestTimeout)
    var flight = Flight(messages, timeout: timeout, at: now)
    if awaitsAnswer { flight.deadline = now + timeout }
    self.flight = flight
    peerFlightStart = reassembly.next
    // A flight is the acknowledgement of the one it answers (RFC 9147 §7.1).
    acknowledgements = []
    acknowledgementDeadline = nil
    let all = messages.indices.map { index in (index, 0..<messages[index].length) }
    try transmitFlight(all, limit: datagramLimit)
  }

  /// Puts parts of the flight's messages into records, and those into datagrams.
  private func transmitFlight(
    _ parts: [(message: Int, range: Range<Int>)], limit: Int
  ) throws(HandshakeFailure) {
    guard let messages = flight?.messages else { return }
    var datagram: [UInt8] = []
    for (index, range) in parts {
      let message = messages[index]
      let overhead = records.overhead(message.epoch)
      switch message.content {
      case .changeCipherSpec:
        if datagram.count + overhead + 1 > limit { flush(&datagram) }
        _ = try append(ContentType.changeCipherSpec, message.epoch, [1], to: &datagram)
      case .handshake(let content):
        var position = range.lowerBound
        repeat {
          let left = range.upperBound - position
          var room = limit - datagram.count - overhead - HandshakeFragment.headerLength
          if room < min(left, Self.fragmentMinimum) {
            flush(&datagram)
            room = limit - overhead - HandshakeFragment.headerLength
          }
          let count = min(left, max(room, 1))
          let fragment = HandshakeFragment(
            type: content.type, length: content.body.count, sequence: content.sequence,
            offset: position, bytes: Array(content.body[position..<(position + count)]))
          let number = try append(
            ContentType.handshake, message.epoch, fragment.encoded, to: &datagram)
          if version == .v13 || message.epoch == 0 {
            flight?.note(number, message: index, position..<(position + count))
          }
          position += count
        } while position < range.upperBound
      }
    }
    flush(&datagram)
  }

  private func flush(_ datagram: inout [UInt8]) {
    if !datagram.isEmpty { transmit(datagram) }
    datagram = []
  }

  private func append(
    _ type: UInt8, _ epoch: UInt64, _ payload: [UInt8], to datagram: inout [UInt8]
  ) throws(HandshakeFailure) -> RecordNumber {
    try records.seal(type, epoch: epoch, payload.rawSpan, into: &datagram)
  }

  /// Sends what of the flight the peer hasn't acknowledged.
  private func resendFlight(at now: Instant) {
    guard let flight else { return }
    statistics.retransmissions += 1
    var parts: [(message: Int, range: Range<Int>)] = []
    for (index, message) in flight.messages.enumerated() where !message.isAcknowledged {
      if message.length == 0 { parts.append((index, 0..<0)) }
      for gap in message.acknowledged.gaps(message.length) { parts.append((index, gap)) }
    }
    let isLarge = flight.timeouts < Self.timeoutsBeforeSmallDatagrams
    self.flight?.lastSent = now
    attempt(at: now) { () throws(HandshakeFailure) in
      try self.transmitFlight(
        parts, limit: isLarge ? self.datagramLimit : min(self.datagramLimit, Self.smallDatagram))
    }
  }

  /// The flight's timer fired.
  func timeOut(at now: Instant) {
    guard var flight else { return }
    flight.timeouts += 1
    if flight.timeouts > settings.retransmissionLimit {
      if step == .connected {
        // The keys are agreed on, and the peer may well have them: whether it is there is for ICE to say.
        self.flight?.deadline = nil
      } else {
        finish(.failed(.timedOut))
      }
      return
    }
    flight.timeout = min(flight.timeout * 2, settings.longestTimeout)
    flight.deadline = now + flight.timeout
    self.flight = flight
    resendFlight(at: now)
  }

  /// The peer sent messages again that were answered: the answer got lost, or is still under way.
  func peerRepeatsItself(at now: Instant) {
    guard let flight, !flight.isAcknowledged, now - flight.lastSent >= flight.timeout / 2 else {
      return
    }
    resendFlight(at: now)
    if flight.deadline != nil { self.flight?.deadline = now + flight.timeout }
  }

  // MARK: - Acknowledgements (RFC 9147 §7)

  func takeAcknowledgement(_ record: Record, at now: Instant) {
    guard flight != nil else { return }
    let message: AckMessage
    do throws(HandshakeFailure) {
      message = try AckMessage(parsing: record.payload)
    } catch {
      statistics.dropped.malformed += 1
      return
    }
    guard let isNews = flight?.acknowledge(message.numbers), isNews, var flight else { return }
    if flight.isAcknowledged {
      self.flight = nil
      wasAcknowledged(flight, at: now)
      return
    }
    // Something arrived, so the path works: begin with short timeouts again.
    flight.timeouts = 0
    if flight.deadline != nil { flight.deadline = now + flight.timeout }
    self.flight = flight
    let lost = flight.overtaken()
    guard !lost.isEmpty else { return }
    statistics.retransmissions += 1
    self.flight?.lastSent = now
    attempt(at: now) { () throws(HandshakeFailure) in
      try self.transmitFlight(lost, limit: self.datagramLimit)
    }
  }

  /// Decides about acknowledgements after all records of a datagram.
  func afterDatagram(at now: Instant) {
    guard version == .v13, !acknowledgements.isEmpty else { return }
    if step == .connected || acknowledgementDeadline == now {
      sendAcknowledgement(at: now)
    } else if acknowledgementDeadline == nil, records.writeEpoch > 0 {
      // The rest of the flight may be right behind.
      acknowledgementDeadline = now + settings.firstTimeout / 4
    }
  }

  func sendAcknowledgement(at now: Instant) {
    acknowledgementDeadline = nil
    guard records.writeEpoch > 0, !acknowledgements.isEmpty else { return }
    let body = AckMessage(numbers: acknowledgements.sorted()).encoded
    acknowledgements = []
    attempt(at: now) { () throws(HandshakeFailure) in
      var datagram: [UInt8] = []
      _ = try self.append(ContentType.ack, self.records.writeEpoch, body, to: &datagram)
      self.transmit(datagram)
    }
  }

  // MARK: - Alerts

  /// Sends an alert under the newest keys. Where even that fails the peer has to find out by itself.
  func sendAlert(_ alert: DTLSAlert, isFatal: Bool) {
    var datagram: [UInt8] = []
    do throws(HandshakeFailure) {
      _ = try append(
        ContentType.alert, records.writeEpoch, [isFatal ? 2 : 1, alert.rawValue], to: &datagram)
    } catch {
      return
    }
    transmit(datagram)
  }
}

extension Flight.Message {
  /// Bytes of the message's body.
  fileprivate var length: Int {
    if case .handshake(let message) = content { return message.body.count }
    return 0
  }
}
