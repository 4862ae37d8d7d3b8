import SoraMedia

/// The server of 1.3 (RFC 8446 §2, RFC 9147 §5).
extension NativeDTLSEndpoint {
  func answer13(
    _ message: HandshakeMessage, _ hello: ClientHello, _ suite: DTLSCipherSuite,
    _ profile: SRTPProfile, at now: Instant
  ) throws(HandshakeFailure) {
    guard hello.legacyCookie.isEmpty, hello.compressionMethods == [0] else {
      // RFC 9147 §5.3.
      throw .illegalParameter("a hello of 1.3 with fields of 1.2")
    }
    guard let groups = hello.groups, let shares = hello.keyShares else {
      throw HandshakeFailure(.missingExtension, "a hello of 1.3 without groups or key shares")
    }
    version = .v13
    negotiation.transcript.add(message)
    negotiation.transcript.settle(.v13)
    let entry = settings.groups.lazy.compactMap { group in
      shares.first { $0.group == group.rawValue }
    }.first
    guard let entry, let group = DTLSGroup(rawValue: entry.group), hasShownCookie(hello.cookie)
    else {
      let wanted = entry == nil ? settings.groups.first { groups.contains($0.rawValue) } : nil
      guard entry != nil || wanted != nil else {
        throw HandshakeFailure(.handshakeFailure, "no group in common")
      }
      return try sendRetry(wanted, suite, at: now)
    }
    negotiation.serverRandom = random.bytes(32)
    let share = try KeyAgreement(group, random: random)
    var answer = ServerHello(random: negotiation.serverRandom, cipherSuite: suite.rawValue)
    answer.selectedVersion = DTLSVersion.v13.rawValue
    answer.keyShare = KeyShareEntry(group: group.rawValue, key: share.publicKey)
    var flight = [makeMessage(HandshakeType.serverHello, answer.encoded, epoch: 0)]
    try makeHandshakeKeys13(suite, try share.agree(with: entry.key))
    let extensions = EncryptedExtensions(useSRTP: UseSRTP(profiles: [profile.rawValue]))
    let request = CertificateRequest(signatureSchemes: SignatureScheme.allCases.map(\.rawValue))
    flight.append(
      makeMessage(HandshakeType.encryptedExtensions, extensions.encoded, epoch: 2))
    flight.append(
      makeMessage(HandshakeType.certificateRequest, request.encoded(.v13), epoch: 2))
    flight.append(makeMessage(HandshakeType.certificate, certificateBody(.v13), epoch: 2))
    flight.append(try makeCertificateVerify13())
    flight.append(try makeFinished13())
    try makeTrafficKeys13()
    try send(flight, awaitsAnswer: true, at: now)
    try startWriting13()
    step = .certificate
  }

  /// Asks for another key share, for a cookie, or for both (RFC 8446 §4.1.4).
  private func sendRetry(
    _ group: DTLSGroup?, _ suite: DTLSCipherSuite, at now: Instant
  ) throws(HandshakeFailure) {
    guard !negotiation.retry.isAsked else {
      throw .illegalParameter("the client didn't do what it was asked to")
    }
    negotiation.retry.ask()
    try negotiation.transcript.retry(suite.hash)
    var request = ServerHello(random: ServerHello.retryRandom, cipherSuite: suite.rawValue)
    request.selectedVersion = DTLSVersion.v13.rawValue
    request.retryGroup = group?.rawValue
    if settings.requiresCookie { request.cookie = negotiation.retry.makeCookie(random) }
    // Not on a timer: the client repeats its hello where this gets lost.
    try send(
      [makeMessage(HandshakeType.serverHello, request.encoded, epoch: 0)], awaitsAnswer: false,
      at: now)
  }
}
