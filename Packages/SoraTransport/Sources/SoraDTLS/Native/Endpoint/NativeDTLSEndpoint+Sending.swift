import SoraMedia
import SoraWire

extension NativeDTLSEndpoint {
  /// A fragment shorter than this isn't worth a record while a new datagram has room for more.
  private static let fragmentMinimum = 48
  /// What fits every path of IPv4 and IPv6.
  private static let smallDatagram = 548

  // MARK: - Messages

  /// Numbers a message, adds it to the transcript, and makes it a part of a flight.
  func makeMessage(_ type: UInt8, _ body: [UInt8], epoch: UInt64) -> Flight.Message {
    let message = flights.makeMessage(type, body)
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
    let parts = flights.begin(messages, awaitsAnswer: awaitsAnswer, at: now)
    reassembly.beginFlight()
    // A flight is the acknowledgement of the one it answers (RFC 9147 §7.1).
    acknowledgements = Acknowledgements()
    try transmitFlight(parts, limit: datagramLimit)
  }

  /// Puts parts of the flight's messages into records, and those into datagrams.
  private func transmitFlight(
    _ parts: [Flight.Part], limit: Int
  ) throws(HandshakeFailure) {
    let messages = flights.messages
    var datagram: [UInt8] = []
    for part in parts {
      let message = messages[part.message]
      let overhead = records.overhead(message.epoch)
      switch message.content {
      case .changeCipherSpec:
        if datagram.count + overhead + 1 > limit { flush(&datagram) }
        _ = try append(ContentType.changeCipherSpec, message.epoch, [1], to: &datagram)
      case .handshake(let content):
        var position = part.range.lowerBound
        repeat {
          let left = part.range.upperBound - position
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
            flights.note(
              number,
              of: Flight.Part(message: part.message, range: position..<(position + count)))
          }
          position += count
        } while position < part.range.upperBound
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

  /// Sends parts of the flight again, in datagrams that the path takes.
  private func resend(_ parts: [Flight.Part], at now: Instant) {
    statistics.retransmissions += 1
    let limit =
      flights.doubtsLargeDatagrams ? min(datagramLimit, Self.smallDatagram) : datagramLimit
    attempt(at: now) { () throws(HandshakeFailure) in
      try self.transmitFlight(parts, limit: limit)
    }
  }

  /// The flight's timer fired.
  func timeOut(at now: Instant) {
    if let parts = flights.timedOut(at: now) {
      resend(parts, at: now)
    } else if step == .connected {
      // The keys are agreed on, and the peer may well have them: whether it is there is for ICE to say.
      flights.stopTimer()
    } else {
      finish(.failed(.timedOut))
    }
  }

  /// The peer sent messages again that were answered.
  func peerRepeatsItself(at now: Instant) {
    if let parts = flights.peerRepeatedItself(at: now) { resend(parts, at: now) }
  }

  // MARK: - Acknowledgements (RFC 9147 §7)

  func takeAcknowledgement(_ record: Record, at now: Instant) {
    guard flights.hasFlight else { return }
    let message: AckMessage
    do throws(HandshakeFailure) {
      message = try AckMessage(parsing: record.payload)
    } catch {
      statistics.dropped.malformed += 1
      return
    }
    switch flights.acknowledge(message.numbers, at: now) {
    case .nothingNew: break
    case .whole(let flight): wasAcknowledged(flight, at: now)
    case .partly(let lost): if !lost.isEmpty { resend(lost, at: now) }
    }
  }

  /// Decides about acknowledgements after all records of a datagram.
  func afterDatagram(at now: Instant) {
    guard version == .v13, !acknowledgements.isEmpty else { return }
    if step == .connected || acknowledgements.deadline == now {
      sendAcknowledgement(at: now)
    } else if records.writeEpoch > 0 {
      // The rest of the flight may be right behind.
      acknowledgements.wait(until: now + settings.firstTimeout / 4)
    }
  }

  func sendAcknowledgement(at now: Instant) {
    guard records.writeEpoch > 0, !acknowledgements.isEmpty else {
      return acknowledgements.postpone()
    }
    let body = AckMessage(numbers: acknowledgements.take()).encoded
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
