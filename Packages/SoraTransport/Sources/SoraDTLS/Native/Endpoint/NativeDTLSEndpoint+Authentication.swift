import SoraMedia

extension NativeDTLSEndpoint {
  /// The peer's certificate (both versions).
  func receivedCertificate(_ message: HandshakeMessage) throws(HandshakeFailure) {
    guard let version else { throw .unexpected("a certificate before the version") }
    let shown = try CertificateMessage(parsing: message.body, version)
    guard shown.context.isEmpty else {
      throw .illegalParameter("a certificate with a context that nobody gave")
    }
    guard let leaf = shown.certificates.first else {
      // RFC 5763 §5: both ends show one.
      throw HandshakeFailure(
        version == .v13 && role == .server ? .certificateRequired : .handshakeFailure,
        "the peer showed no certificate", error: .certificate(reason: "the peer showed none"))
    }
    let peer = try authentication.accept(leaf)
    if version == .v12, role == .client, let suite = negotiation.suite, !suite.fits(peer.kind) {
      throw .illegalParameter("the server's certificate doesn't fit its cipher suite")
    }
    negotiation.peer = peer
    negotiation.transcript.add(message)
    switch (version, role) {
    case (.v13, _): step = .certificateVerify
    case (.v12, .client): step = .serverKeyExchange
    case (.v12, .server): step = .clientKeyExchange
    }
    // A part of the answer came: in 1.3 that acknowledges the whole flight (RFC 9147 §7.1).
    if version == .v13 { flights.stopTimer() }
  }

  /// The server asks for a certificate (both versions).
  func receivedCertificateRequest(_ message: HandshakeMessage) throws(HandshakeFailure) {
    guard let version else { throw .unexpected("a request before the version") }
    let request = try CertificateRequest(parsing: message.body, version)
    guard request.context.isEmpty else {
      throw .illegalParameter("a CertificateRequest of the handshake with a context")
    }
    negotiation.scheme = try authentication.scheme(among: request.signatureSchemes, version)
    negotiation.requestContext = request.context
    negotiation.transcript.add(message)
    step = version == .v13 ? .certificate : .serverHelloDone
  }

  /// Signs with this end's key.
  func sign(_ content: [UInt8]) throws(HandshakeFailure) -> CertificateVerify {
    guard let scheme = negotiation.scheme else { throw .library("no signature scheme") }
    return try authentication.sign(content, scheme)
  }

  /// The peer proves that the certificate is its own (both versions).
  func receivedCertificateVerify(_ message: HandshakeMessage) throws(HandshakeFailure) {
    guard let version, let suite = negotiation.suite, let peer = negotiation.peer else {
      throw .unexpected("a signature before a certificate")
    }
    let verify = try CertificateVerify(parsing: message.body)
    let transcript = negotiation.transcript.bytes
    let content =
      version == .v13
      ? CertificateVerify.signedContent(
        by: role == .client ? .server : .client, transcript: try suite.hash(transcript))
      : transcript
    try peer.verify(verify.signature, scheme: verify.scheme, of: content, version: version)
    negotiation.transcript.add(message)
    step = .finished
  }

  /// This end's certificate.
  func certificateBody(_ version: DTLSVersion) -> [UInt8] {
    authentication.certificateBody(version, context: negotiation.requestContext)
  }

  /// The SRTP profile that the server picked.
  func acceptProfile(_ answer: UseSRTP?) throws(HandshakeFailure) {
    guard let answer else {
      throw HandshakeFailure(
        .handshakeFailure, "the server picked no SRTP profile", error: .noCommonSRTPProfile)
    }
    guard answer.profiles.count == 1, answer.keyIdentifier.isEmpty,
      let profile = answer.profiles.first.flatMap({ SRTPProfile(rawValue: $0) }),
      settings.profiles.contains(profile)
    else { throw .illegalParameter("the server picked an SRTP profile that wasn't offered") }
    negotiation.profile = profile
  }
}
