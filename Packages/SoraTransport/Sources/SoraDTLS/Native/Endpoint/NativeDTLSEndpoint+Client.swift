import SoraMedia

extension NativeDTLSEndpoint {
  /// A client's hello: both versions in one (RFC 9147 §5.3).
  func startClient(at now: Instant) throws(HandshakeFailure) {
    negotiation.clientRandom = random.bytes(32)
    let suites = settings.cipherSuites.filter { settings.versions.contains($0.version) }
    var hello = ClientHello(
      random: negotiation.clientRandom, cipherSuites: suites.map(\.rawValue))
    hello.groups = settings.groups.map(\.rawValue)
    hello.signatureSchemes = SignatureScheme.allCases.map(\.rawValue)
    hello.useSRTP = UseSRTP(profiles: settings.profiles.map(\.rawValue))
    if settings.versions.contains(.v13), let group = settings.groups.first {
      hello.supportedVersions = settings.versions.map(\.rawValue).sorted()
      let share = try KeyAgreement(group, random: random)
      hello.keyShares = [KeyShareEntry(group: group.rawValue, key: share.publicKey)]
      negotiation.share = share
    }
    if settings.versions.contains(.v12) {
      // Uncompressed points only (RFC 8422 §5.1.2).
      hello.pointFormats = [0]
      hello.extendedMasterSecret = true
      hello.renegotiationInfo = []
    }
    negotiation.hello = hello
    try sendClientHello(at: now)
  }

  private func sendClientHello(at now: Instant) throws(HandshakeFailure) {
    guard let hello = negotiation.hello else { throw .library("no hello to send") }
    try send(
      [makeMessage(HandshakeType.clientHello, hello.encoded, epoch: 0)], awaitsAnswer: true, at: now
    )
  }

  /// A server of 1.2 wants a cookie (RFC 6347 §4.2.1).
  func receivedVerifyRequest(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    guard settings.versions.contains(.v12), !negotiation.retry.isAsked else {
      throw .unexpected("a second HelloVerifyRequest")
    }
    let request = try HelloVerifyRequest(parsing: message.body)
    negotiation.retry.ask()
    negotiation.hello?.legacyCookie = request.cookie
    negotiation.transcript.restart()
    try sendClientHello(at: now)
  }

  func receivedServerHello(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    guard let hello = negotiation.hello else { throw .unexpected("a ServerHello without a hello") }
    let answer = try ServerHello(parsing: message.body)
    // RFC 8446 §4.2: an answer to what wasn't asked.
    for type in answer.extensionTypes
    where !hello.extensionTypes.contains(type)
      && !(answer.isRetry && type == ExtensionType.cookie)
    {
      throw HandshakeFailure(.unsupportedExtension, "the server answered an extension unasked")
    }
    let agreed = try agreedVersion(answer)
    guard answer.compressionMethod == 0,
      let suite = DTLSCipherSuite(rawValue: answer.cipherSuite), suite.version == agreed,
      hello.cipherSuites.contains(suite.rawValue)
    else { throw .illegalParameter("the server picked a cipher suite that wasn't offered") }
    if version == .v13, suite != negotiation.suite {
      throw .illegalParameter("the server picked another cipher suite than in its retry")
    }
    negotiation.suite = suite
    switch agreed {
    case .v12: try begin12(message, answer, suite)
    case .v13 where answer.isRetry: try retry13(message, answer, suite, at: now)
    case .v13: try begin13(message, answer, suite)
    }
  }

  /// The version the server picked, one that this end offered.
  private func agreedVersion(_ answer: ServerHello) throws(HandshakeFailure) -> DTLSVersion {
    if let selected = answer.selectedVersion {
      guard selected == DTLSVersion.v13.rawValue, settings.versions.contains(.v13),
        answer.legacyVersion == DTLSVersion.v12.rawValue, answer.sessionID.isEmpty
      else { throw .illegalParameter("the server picked a version that wasn't offered") }
      return .v13
    }
    guard answer.legacyVersion == DTLSVersion.v12.rawValue, settings.versions.contains(.v12),
      version != .v13
    else {
      throw HandshakeFailure(.protocolVersion, "the server speaks no version that was offered")
    }
    // RFC 8446 §4.1.3: it could do better, and somebody in between talked it out of it.
    if settings.versions.contains(.v13),
      answer.random.suffix(8).dropLast().elementsEqual(ServerHello.downgradeSentinel.dropLast())
    {
      throw .illegalParameter("somebody made the server fall back to an older version")
    }
    return .v12
  }
}
