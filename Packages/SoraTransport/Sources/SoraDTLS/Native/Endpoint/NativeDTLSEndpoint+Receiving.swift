import SoraMedia
import SoraWire

extension NativeDTLSEndpoint {
  /// Takes the records of a datagram one by one.
  func process(_ datagram: RawSpan, at now: Instant) {
    var offset = 0
    while offset < datagram.byteCount, step != .ended {
      switch records.open(datagram, at: &offset) {
      case .record(let record): take(record, at: now)
      case .locked(let range):
        // The peer's next epoch overtook what leads to it.
        let isKept = step.isHandshaking && locked.keep(datagram.extracting(range))
        if !isKept { statistics.dropped.withoutKeys += 1 }
      case .dropped(let reason): count(reason)
      case .malformed:
        statistics.dropped.malformed += 1
        return
      }
    }
  }

  func count(_ reason: RecordDrop) {
    switch reason {
    case .malformed: statistics.dropped.malformed += 1
    case .unauthenticated: statistics.dropped.unauthenticated += 1
    case .replayed: statistics.dropped.replayed += 1
    case .unexpected: statistics.dropped.unexpected += 1
    }
  }

  func take(_ record: Record, at now: Instant) {
    switch record.type {
    case ContentType.handshake: takeHandshake(record, at: now)
    case ContentType.alert: takeAlert(record, at: now)
    case ContentType.applicationData:
      // 1.2 has application data in epoch 1, 1.3 from epoch 3 on.
      guard step == .connected, record.number.epoch >= (version == .v13 ? 3 : 1) else {
        statistics.dropped.unexpected += 1
        return
      }
      if !record.payload.isEmpty { emit(.applicationData(record.payload)) }
    case ContentType.ack:
      guard version == .v13, record.number.epoch > 0 else {
        statistics.dropped.unexpected += 1
        return
      }
      takeAcknowledgement(record, at: now)
    case ContentType.changeCipherSpec:
      // Says nothing that the epoch of the record behind it doesn't say.
      break
    default: statistics.dropped.unexpected += 1
    }
  }

  // MARK: - Handshake messages

  private func takeHandshake(_ record: Record, at now: Instant) {
    // Once the association stands, what anybody could have sent means nothing.
    guard step != .connected || record.number.epoch > 0 else {
      statistics.dropped.unexpected += 1
      return
    }
    var reader = WireReader(record.payload)
    var isKept = true
    var isRepeated = false
    var isOutOfOrder = false
    repeat {
      let fragment: HandshakeFragment
      do throws(HandshakeFailure) {
        fragment = try HandshakeFragment(&reader)
      } catch {
        statistics.dropped.malformed += 1
        isKept = false
        break
      }
      if reassembly.isOfEarlierFlight(fragment) { isRepeated = true }
      guard reassembly.isOld(fragment) || isAllowed(fragment.type, in: record.number.epoch) else {
        statistics.dropped.unexpected += 1
        isKept = false
        continue
      }
      switch reassembly.insert(fragment, epoch: record.number.epoch) {
      case .kept, .old: break
      case .keptOutOfOrder: isOutOfOrder = true
      case .dropped:
        statistics.dropped.unusableFragments += 1
        isKept = false
      }
    } while !reader.isAtEnd
    // A ServerHello in clear belongs to the flight that the client acknowledges; a ClientHello is answered, and what comes
    // again while the answer is under way is answered by that.
    if isKept, version != .v12, role == .client || record.number.epoch > 0,
      !isRepeated || !flights.hasFlight
    {
      acknowledgements.add(record.number)
    }
    attempt(at: now) { () throws(HandshakeFailure) in
      while self.step != .ended, let next = self.reassembly.take() {
        try self.handle(next.message, epoch: next.epoch, at: now)
      }
    }
    guard step != .ended else { return }
    if isRepeated { peerRepeatsItself(at: now) }
    // RFC 9147 §7.1: a gap is told at once.
    if isOutOfOrder, version == .v13 { acknowledgements.wait(until: now) }
  }

  /// Whether a message of this type may come under the protection of this epoch. What isn't allowed is dropped rather than
  /// answered with an alert: anybody can send records in clear.
  private func isAllowed(_ type: UInt8, in epoch: UInt64) -> Bool {
    switch version {
    case nil:
      return epoch == 0
        && (role == .server ? type == HandshakeType.clientHello : type != HandshakeType.finished)
    case .v12:
      if step == .connected { return epoch == 1 }
      return (type == HandshakeType.finished) == (epoch == 1)
    case .v13:
      if step == .serverHello || step == .clientHello { return epoch == 0 }
      return step == .connected ? epoch >= 3 : epoch == 2
    }
  }

  private func handle(
    _ message: HandshakeMessage, epoch: UInt64, at now: Instant
  ) throws(HandshakeFailure) {
    if step == .connected { return try handlePostHandshake(message, epoch: epoch, at: now) }
    // RFC 5246 §7.4.1.1: a server may ask for a handshake that runs already.
    if role == .client, message.type == HandshakeType.helloRequest, version != .v13 { return }
    let isVerifyRequest =
      step == .serverHello && message.type == HandshakeType.helloVerifyRequest
    guard step.isHandshaking, message.type == step.messageType || isVerifyRequest else {
      throw .unexpected("a handshake message of type \(message.type) at the wrong place")
    }
    // Reassembly began before the version was known.
    guard isAllowed(message.type, in: epoch) else {
      throw .unexpected("a handshake message of type \(message.type) under the wrong keys")
    }
    flights.answered(at: now)
    switch step {
    case .clientHello: try receivedClientHello(message, at: now)
    case .serverHello where isVerifyRequest: try receivedVerifyRequest(message, at: now)
    case .serverHello: try receivedServerHello(message, at: now)
    case .certificate: try receivedCertificate(message)
    case .certificateRequest: try receivedCertificateRequest(message)
    case .encryptedExtensions: try receivedEncryptedExtensions(message)
    case .serverKeyExchange: try receivedServerKeyExchange(message)
    case .serverHelloDone: try receivedServerHelloDone(message, at: now)
    case .clientKeyExchange: try receivedClientKeyExchange(message)
    case .certificateVerify: try receivedCertificateVerify(message)
    case .finished:
      if version == .v13 {
        try receivedFinished13(message, at: now)
      } else {
        try receivedFinished12(message, at: now)
      }
    case .idle, .connected, .ended: break
    }
  }

  // MARK: - Alerts

  private func takeAlert(_ record: Record, at now: Instant) {
    guard record.payload.count == 2 else {
      statistics.dropped.malformed += 1
      return
    }
    guard record.number.epoch > 0 || !records.hasProtectedInput else {
      statistics.dropped.unexpected += 1
      return
    }
    let alert = DTLSAlert(rawValue: record.payload[1])
    if alert == .closeNotify {
      if step == .connected {
        // RFC 5246 §7.2.1: answered with a close_notify of this end's own.
        sendAlert(.closeNotify, isFatal: false)
        finish(.closed)
      } else {
        finish(.failed(.alertReceived(alert)))
      }
      return
    }
    // RFC 8446 §6: in 1.3 the level means nothing, and everything but these two is fatal.
    let isFatal = version == .v13 ? alert != .userCanceled : record.payload[0] == 2
    if isFatal { finish(.failed(.alertReceived(alert))) }
  }
}
