import SoraMedia

/// The client of 1.3 (RFC 8446 §2, RFC 9147 §5).
extension NativeDTLSEndpoint {
  /// The server wants another key share, or a cookie (RFC 8446 §4.1.4).
  func retry13(
    _ message: HandshakeMessage, _ answer: ServerHello, _ suite: DTLSCipherSuite, at now: Instant
  ) throws(HandshakeFailure) {
    guard !negotiation.retry.isAsked else { throw .unexpected("a second HelloRetryRequest") }
    guard answer.retryGroup != nil || answer.cookie != nil else {
      throw .illegalParameter("a HelloRetryRequest that changes nothing")
    }
    negotiation.retry.ask()
    version = .v13
    negotiation.transcript.settle(.v13)
    try negotiation.transcript.retry(suite.hash)
    negotiation.transcript.add(message)
    if let number = answer.retryGroup {
      guard let group = DTLSGroup(rawValue: number), settings.groups.contains(group),
        group != negotiation.share?.group
      else { throw .illegalParameter("a HelloRetryRequest for a group that wasn't offered") }
      let share = try KeyAgreement(group, random: random)
      negotiation.share = share
      negotiation.hello?.keyShares = [KeyShareEntry(group: number, key: share.publicKey)]
    }
    negotiation.hello?.cookie = answer.cookie
    guard let hello = negotiation.hello else { throw .library("no hello to send") }
    try send(
      [makeMessage(HandshakeType.clientHello, hello.encoded, epoch: 0)], awaitsAnswer: true, at: now
    )
  }

  func begin13(
    _ message: HandshakeMessage, _ answer: ServerHello, _ suite: DTLSCipherSuite
  ) throws(HandshakeFailure) {
    guard let entry = answer.keyShare else {
      throw HandshakeFailure(.missingExtension, "the server sent no key share")
    }
    guard let share = negotiation.share, share.group.rawValue == entry.group else {
      throw .illegalParameter("the server's key share is of a group that wasn't sent")
    }
    version = .v13
    negotiation.transcript.settle(.v13)
    negotiation.transcript.add(message)
    try makeHandshakeKeys13(suite, try share.agree(with: entry.key))
    // A part of the answer came: in 1.3 that acknowledges the whole flight (RFC 9147 §7.1).
    flights.stopTimer()
    step = .encryptedExtensions
  }

  func receivedEncryptedExtensions(_ message: HandshakeMessage) throws(HandshakeFailure) {
    let answer = try EncryptedExtensions(parsing: message.body)
    for type in answer.extensionTypes
    where !(negotiation.hello?.extensionTypes.contains(type) ?? false) {
      throw HandshakeFailure(.unsupportedExtension, "the server answered an extension unasked")
    }
    try acceptProfile(answer.useSRTP)
    negotiation.transcript.add(message)
    step = .certificateRequest
  }

  // MARK: - Both roles

  /// The keys of epoch 2, from the agreed secret and the hellos (RFC 8446 §7.1).
  func makeHandshakeKeys13(
    _ suite: DTLSCipherSuite, _ shared: Secret
  ) throws(HandshakeFailure) {
    let secrets = try HandshakeSecrets(
      suite, role: role, shared: shared, transcript: negotiation.transcript)
    records.startWriting(epoch: 2, try secrets.writing())
    records.startReading(epoch: 2, try secrets.reading())
    locked.keysCame()
    negotiation.secrets = secrets
    negotiation.share = nil
  }

  /// The secrets of application data, from everything up to the server's Finished.
  func makeTrafficKeys13() throws(HandshakeFailure) {
    guard var secrets = negotiation.secrets else { throw .unexpected("a Finished too early") }
    trafficKeys = try secrets.makeTrafficKeys(negotiation.transcript)
    negotiation.secrets = secrets
  }

  /// Sends under the keys of application data from here on.
  func startWriting13() throws(HandshakeFailure) {
    guard let keys = trafficKeys else { throw .library("no traffic secrets") }
    records.startWriting(epoch: 3, try keys.writing())
  }

  func makeFinished13() throws(HandshakeFailure) -> Flight.Message {
    guard let secrets = negotiation.secrets else { throw .unexpected("a Finished too early") }
    let body = try secrets.finished(negotiation.transcript)
    return makeMessage(HandshakeType.finished, body, epoch: 2)
  }

  func makeCertificateVerify13() throws(HandshakeFailure) -> Flight.Message {
    guard let suite = negotiation.suite else { throw .library("no cipher suite") }
    let content = CertificateVerify.signedContent(
      by: role, transcript: try suite.hash(negotiation.transcript.bytes))
    return makeMessage(HandshakeType.certificateVerify, try sign(content).encoded, epoch: 2)
  }

  func receivedFinished13(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    guard let secrets = negotiation.secrets else { throw .unexpected("a Finished too early") }
    guard try secrets.accepts(message.body, negotiation.transcript) else {
      throw HandshakeFailure(.decryptError, "the peer's Finished is wrong")
    }
    negotiation.transcript.add(message)
    if role == .client {
      try makeTrafficKeys13()
      let flight = [
        makeMessage(HandshakeType.certificate, certificateBody(.v13), epoch: 2),
        try makeCertificateVerify13(), try makeFinished13(),
      ]
      try send(flight, awaitsAnswer: true, at: now)
      try startWriting13()
    } else {
      flights.forget()
      records.stopWriting(before: 3)
    }
    guard let keys = trafficKeys else { throw .library("no traffic secrets") }
    records.startReading(epoch: 3, try keys.reading())
    locked.keysCame()
    try connect(at: now)
  }
}
