package import SoraMedia

/// The sending half of a handshake's reliability (RFC 6347 §4.2.4, RFC 9147 §5.8): numbers messages, keeps the last flight until the
/// peer has it, and says what of it is sent again, and when.
package struct FlightSender {
  /// What an acknowledgement says.
  package enum Acknowledgement {
    case nothingNew
    /// The peer has the whole flight, which is kept no longer.
    case whole(Flight)
    /// The peer has a part; what was sent before that and didn't come is probably lost.
    case partly(lost: [Flight.Part])
  }

  private let patience: RetransmissionTimer.Patience
  private var nextSequence: UInt16 = 0
  private var current: (flight: Flight, timer: RetransmissionTimer)?

  package init(patience: RetransmissionTimer.Patience) { self.patience = patience }

  /// Whether a flight is kept.
  package var hasFlight: Bool { current != nil }

  /// The messages of the flight.
  var messages: [Flight.Message] { current?.flight.messages ?? [] }

  /// Whether datagrams are to be small, as the path may swallow large ones.
  package var doubtsLargeDatagrams: Bool { current?.timer.doubtsLargeDatagrams ?? false }

  /// When the flight is sent again.
  package var deadline: Instant? { current?.timer.deadline }

  /// Numbers a message.
  package mutating func makeMessage(_ type: UInt8, _ body: [UInt8]) -> HandshakeMessage {
    defer { nextSequence &+= 1 }
    return HandshakeMessage(type: type, sequence: nextSequence, body: body)
  }

  /// Takes a flight that is sent now in the place of the one before.
  ///
  /// - Returns: all its parts.
  package mutating func begin(
    _ messages: [Flight.Message], awaitsAnswer: Bool, at now: Instant
  ) -> [Flight.Part] {
    let timer = RetransmissionTimer(
      patience, after: current?.timer, runs: awaitsAnswer, at: now)
    current = (Flight(messages), timer)
    return messages.indices.map { Flight.Part(message: $0, range: 0..<messages[$0].length) }
  }

  /// Notes which record carries a part of the flight.
  package mutating func note(_ number: RecordNumber, of part: Flight.Part) {
    current?.flight.note(number, of: part)
  }

  /// A first answer came.
  package mutating func answered(at now: Instant) { current?.timer.answered(at: now) }

  /// Sends the flight again only where the peer repeats itself.
  package mutating func stopTimer() { current?.timer.stop() }

  /// The peer has the flight.
  mutating func forget() { current = nil }

  // MARK: - Sending again

  /// The timer fired.
  ///
  /// - Returns: what is sent again; nil where patience is at its end.
  package mutating func timedOut(at now: Instant) -> [Flight.Part]? {
    guard current?.timer.fired(at: now) == true else { return nil }
    return resend(at: now)
  }

  /// The peer sent messages again that were answered: the answer got lost, or is still under way.
  ///
  /// - Returns: what is sent again; nil where it is too early for that.
  package mutating func peerRepeatedItself(at now: Instant) -> [Flight.Part]? {
    guard let (flight, timer) = current, !flight.isAcknowledged, timer.isAnswerOverdue(at: now)
    else { return nil }
    current?.timer.restart(at: now)
    return resend(at: now)
  }

  /// Takes the peer's word for what it has (RFC 9147 §7.2).
  package mutating func acknowledge(_ numbers: [RecordNumber], at now: Instant) -> Acknowledgement {
    guard let isNews = current?.flight.acknowledge(numbers), isNews, let flight = current?.flight
    else { return .nothingNew }
    if flight.isAcknowledged {
      current = nil
      return .whole(flight)
    }
    current?.timer.arrived(at: now)
    let lost = flight.overtaken()
    if !lost.isEmpty { current?.timer.resent(at: now) }
    return .partly(lost: lost)
  }

  private mutating func resend(at now: Instant) -> [Flight.Part] {
    current?.timer.resent(at: now)
    return current?.flight.unacknowledged ?? []
  }
}
