public import SoraMedia

/// What comes after a handshake.
extension NativeDTLSEndpoint {
  /// Records under one key at most, well below what AES-GCM stands (RFC 8446 §5.5: 2^24.5 full-size records).
  private static let recordsPerKey: UInt64 = 1 << 23

  func handlePostHandshake(
    _ message: HandshakeMessage, epoch: UInt64, at now: Instant
  ) throws(HandshakeFailure) {
    guard version == .v13 else {
      // RFC 5246 §7.2.2, RFC 9325 §3.5: nobody renegotiates here.
      if message.type == HandshakeType.helloRequest || message.type == HandshakeType.clientHello {
        sendAlert(.noRenegotiation, isFatal: false)
      }
      return
    }
    switch message.type {
    case HandshakeType.keyUpdate: try receivedKeyUpdate(message, epoch: epoch, at: now)
    case HandshakeType.newSessionTicket where role == .client:
      // Nothing is resumed here; that it came is acknowledged.
      break
    default:
      throw .unexpected("a handshake message of type \(message.type) after the handshake")
    }
  }

  private func receivedKeyUpdate(
    _ message: HandshakeMessage, epoch: UInt64, at now: Instant
  ) throws(HandshakeFailure) {
    let update = try KeyUpdate(parsing: message.body)
    guard epoch == records.readEpoch, trafficKeys != nil else {
      throw .unexpected("a KeyUpdate under old keys")
    }
    if let keys = try trafficKeys?.nextReading() { records.startReading(epoch: epoch + 1, keys) }
    guard update.isRequested else { return }
    if flights.hasFlight {
      trafficKeys?.oweUpdate()
    } else {
      try sendKeyUpdate(requestingPeer: false, at: now)
    }
  }

  private func sendKeyUpdate(requestingPeer: Bool, at now: Instant) throws(HandshakeFailure) {
    // What was received and not told yet isn't answered by this flight.
    var owed = acknowledgements
    owed.postpone()
    try send(
      [
        makeMessage(
          HandshakeType.keyUpdate, KeyUpdate(isRequested: requestingPeer).encoded,
          epoch: records.writeEpoch)
      ], awaitsAnswer: true, at: now)
    acknowledgements = owed
  }

  /// Changes this end's keys, as it does by itself after some millions of records (1.3 only).
  ///
  /// Does nothing before the handshake is done and acknowledged, or while an earlier change is under way.
  ///
  /// - Parameters:
  ///   - requestingPeer: asks the peer to change its own too.
  ///   - now: the present time.
  public func updateKeys(requestingPeer: Bool = false, at now: Instant) {
    guard version == .v13, step == .connected, !flights.hasFlight else { return }
    attempt(at: now) { () throws(HandshakeFailure) in
      try self.sendKeyUpdate(requestingPeer: requestingPeer, at: now)
    }
  }

  func renewKeysIfWorn(at now: Instant) {
    if records.writtenCount >= Self.recordsPerKey { updateKeys(at: now) }
  }

  /// The peer has the whole last flight.
  func wasAcknowledged(_ acknowledged: Flight, at now: Instant) {
    guard step == .connected else { return }
    guard acknowledged.isKeyUpdate else {
      // The handshake's own keys have no use any more.
      records.stopWriting(before: 3)
      return payOwedKeyUpdate(at: now)
    }
    attempt(at: now) { () throws(HandshakeFailure) in
      // RFC 9147 §8: new keys are written with once the peer has acknowledged the KeyUpdate.
      guard let keys = try self.trafficKeys?.nextWriting() else {
        throw .library("no traffic secrets")
      }
      let epoch = self.records.writeEpoch + 1
      self.records.startWriting(epoch: epoch, keys)
      self.records.stopWriting(before: epoch)
    }
    payOwedKeyUpdate(at: now)
  }

  private func payOwedKeyUpdate(at now: Instant) {
    guard step == .connected, trafficKeys?.payUpdate() == true else { return }
    updateKeys(at: now)
  }
}
