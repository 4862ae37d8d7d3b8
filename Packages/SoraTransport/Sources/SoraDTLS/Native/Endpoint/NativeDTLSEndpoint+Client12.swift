import SoraMedia

/// The client of 1.2 (RFC 5246 §7.3, RFC 8422).
extension NativeDTLSEndpoint {
  func begin12(
    _ message: HandshakeMessage, _ answer: ServerHello, _ suite: DTLSCipherSuite
  ) throws(HandshakeFailure) {
    // RFC 5746 §3.4: what a first handshake has to say is empty.
    guard answer.renegotiationInfo?.isEmpty ?? true else {
      throw HandshakeFailure(.handshakeFailure, "the server believes that this is a renegotiation")
    }
    try acceptProfile(answer.useSRTP)
    version = .v12
    negotiation.serverRandom = answer.random
    negotiation.usesExtendedMasterSecret = answer.extendedMasterSecret
    negotiation.share = nil
    negotiation.transcript.settle(.v12)
    negotiation.transcript.add(message)
    acknowledgements = Acknowledgements()
    step = .certificate
  }

  func receivedServerKeyExchange(_ message: HandshakeMessage) throws(HandshakeFailure) {
    let exchange = try ServerKeyExchange(parsing: message.body)
    guard let group = DTLSGroup(rawValue: exchange.group), settings.groups.contains(group) else {
      throw .illegalParameter("the server picked a group that wasn't offered")
    }
    guard let peer = negotiation.peer else { throw .unexpected("a key exchange too early") }
    try peer.verify(
      exchange.signature, scheme: exchange.scheme,
      of: negotiation.clientRandom + negotiation.serverRandom + exchange.parameters, version: .v12)
    negotiation.share = try KeyAgreement(group, random: random)
    negotiation.peerPublicKey = exchange.publicKey
    negotiation.transcript.add(message)
    step = .certificateRequest
  }

  /// The server's flight is complete: certificate, key exchange, signature and Finished answer it.
  func receivedServerHelloDone(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    guard message.body.isEmpty else { throw .decode("a ServerHelloDone with a content") }
    negotiation.transcript.add(message)
    guard let share = negotiation.share else { throw .unexpected("no key exchange") }
    var flight = [makeMessage(HandshakeType.certificate, certificateBody(.v12), epoch: 0)]
    flight.append(
      makeMessage(
        HandshakeType.clientKeyExchange, ClientKeyExchange(publicKey: share.publicKey).encoded,
        epoch: 0))
    let keys = try makeKeys12(with: negotiation.peerPublicKey)
    flight.append(
      makeMessage(
        HandshakeType.certificateVerify, try sign(negotiation.transcript.bytes).encoded, epoch: 0))
    flight.append(Flight.Message(content: .changeCipherSpec, epoch: 0))
    records.startWriting(epoch: 1, keys.write)
    records.startReading(epoch: 1, keys.read)
    locked.keysCame()
    flight.append(try makeFinished12())
    try send(flight, awaitsAnswer: true, at: now)
    step = .finished
  }

  // MARK: - Both roles

  /// Agrees on the premaster secret and makes the keys of it. The client's key exchange is in the transcript already.
  func makeKeys12(
    with peerPublicKey: [UInt8]
  ) throws(HandshakeFailure) -> (write: RecordProtection, read: RecordProtection) {
    guard let share = negotiation.share, let suite = negotiation.suite else {
      throw .unexpected("a key exchange too early")
    }
    let premaster = try share.agree(with: peerPublicKey)
    let sessionHash =
      negotiation.usesExtendedMasterSecret ? try suite.hash(negotiation.transcript.bytes) : nil
    let master = MasterSecret(
      hash: suite.hash, premaster: premaster, clientRandom: negotiation.clientRandom,
      serverRandom: negotiation.serverRandom, sessionHash: sessionHash)
    negotiation.master = master
    negotiation.share = nil
    return try master.recordProtection(suite, role: role)
  }

  func makeFinished12() throws(HandshakeFailure) -> Flight.Message {
    guard let master = negotiation.master else { throw .unexpected("a Finished too early") }
    let data = try master.verifyData(of: role, transcript: negotiation.transcript.bytes)
    return makeMessage(HandshakeType.finished, data.array(0..<data.count), epoch: 1)
  }

  func receivedFinished12(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    guard let master = negotiation.master else { throw .unexpected("a Finished too early") }
    let expected = try master.verifyData(
      of: role == .client ? .server : .client, transcript: negotiation.transcript.bytes)
    guard expected.matches(message.body) else {
      throw HandshakeFailure(.decryptError, "the peer's Finished is wrong")
    }
    negotiation.transcript.add(message)
    if role == .server {
      try sendFinalFlight12(at: now)
    } else {
      flights.forget()
    }
    try connect(at: now)
  }
}
