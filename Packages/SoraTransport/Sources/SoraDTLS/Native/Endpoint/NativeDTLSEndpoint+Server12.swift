import SoraMedia

/// The server of 1.2 (RFC 5246 §7.3, RFC 8422).
extension NativeDTLSEndpoint {
  func answer12(
    _ message: HandshakeMessage, _ hello: ClientHello, _ suite: DTLSCipherSuite,
    _ profile: SRTPProfile, at now: Instant
  ) throws(HandshakeFailure) {
    guard hasShownCookie(hello.legacyCookie) else {
      guard !negotiation.retry.isAsked else {
        throw .illegalParameter("the client showed another cookie than it got")
      }
      negotiation.retry.ask()
      // Neither this nor the hello it answers belongs to the transcript (RFC 6347 §4.2.1).
      let cookie = negotiation.retry.makeCookie(random)
      let request = makeMessage(
        HandshakeType.helloVerifyRequest, HelloVerifyRequest(cookie: cookie).encoded, epoch: 0)
      negotiation.transcript.restart()
      return try send([request], awaitsAnswer: false, at: now)
    }
    // RFC 5746 §3.6: what a first handshake has to say is empty.
    guard hello.renegotiationInfo?.isEmpty ?? true else {
      throw HandshakeFailure(.handshakeFailure, "the client believes that this is a renegotiation")
    }
    let group = settings.groups.first { group in
      hello.groups?.contains(group.rawValue) ?? (group == .p256)
    }
    guard let group else { throw HandshakeFailure(.handshakeFailure, "no group in common") }
    version = .v12
    negotiation.transcript.settle(.v12)
    negotiation.transcript.add(message)
    negotiation.usesExtendedMasterSecret = hello.extendedMasterSecret
    negotiation.serverRandom = random.bytes(32)
    if settings.versions.contains(.v13) {
      negotiation.serverRandom.replaceSubrange(24..<32, with: ServerHello.downgradeSentinel)
    }
    var answer = ServerHello(random: negotiation.serverRandom, cipherSuite: suite.rawValue)
    answer.useSRTP = UseSRTP(profiles: [profile.rawValue])
    answer.extendedMasterSecret = hello.extendedMasterSecret
    answer.pointFormats = hello.pointFormats == nil ? nil : [0]
    if hello.renegotiationInfo != nil
      || hello.cipherSuites.contains(ClientHello.renegotiationSignal)
    {
      answer.renegotiationInfo = []
    }
    let share = try KeyAgreement(group, random: random)
    negotiation.share = share
    var exchange = ServerKeyExchange(group: group.rawValue, publicKey: share.publicKey)
    let signed = try sign(
      negotiation.clientRandom + negotiation.serverRandom + exchange.parameters)
    exchange.scheme = signed.scheme
    exchange.signature = signed.signature
    let request = CertificateRequest(signatureSchemes: SignatureScheme.allCases.map(\.rawValue))
    try send(
      [
        makeMessage(HandshakeType.serverHello, answer.encoded, epoch: 0),
        makeMessage(HandshakeType.certificate, certificateBody(.v12), epoch: 0),
        makeMessage(HandshakeType.serverKeyExchange, exchange.encoded, epoch: 0),
        makeMessage(HandshakeType.certificateRequest, request.encoded(.v12), epoch: 0),
        makeMessage(HandshakeType.serverHelloDone, [], epoch: 0),
      ], awaitsAnswer: true, at: now)
    step = .certificate
  }

  func receivedClientKeyExchange(_ message: HandshakeMessage) throws(HandshakeFailure) {
    let exchange = try ClientKeyExchange(parsing: message.body)
    negotiation.transcript.add(message)
    let keys = try makeKeys12(with: exchange.publicKey)
    records.startReading(epoch: 1, keys.read)
    locked.keysCame()
    // Not in use yet: an alert under these keys would come before the peer reads them.
    records.prepareWriting(keys.write)
    step = .certificateVerify
  }

  /// ChangeCipherSpec and Finished. Nobody answers them: they are sent again where the client repeats its own.
  func sendFinalFlight12(at now: Instant) throws(HandshakeFailure) {
    try records.startWritingPrepared(epoch: 1)
    try send(
      [Flight.Message(content: .changeCipherSpec, epoch: 0), try makeFinished12()],
      awaitsAnswer: false, at: now)
  }
}
