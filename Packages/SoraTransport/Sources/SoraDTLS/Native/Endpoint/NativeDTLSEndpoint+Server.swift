import SoraMedia

extension NativeDTLSEndpoint {
  func receivedClientHello(
    _ message: HandshakeMessage, at now: Instant
  ) throws(HandshakeFailure) {
    let hello = try ClientHello(parsing: message.body)
    let agreed = try chooseVersion(hello)
    guard hello.compressionMethods.contains(0) else {
      throw .illegalParameter("the client wants compression")
    }
    let suite = settings.cipherSuites.first {
      $0.version == agreed && authentication.fits($0) && hello.cipherSuites.contains($0.rawValue)
    }
    guard let suite, negotiation.suite == nil || negotiation.suite == suite else {
      throw HandshakeFailure(.handshakeFailure, "no cipher suite in common")
    }
    let profile = settings.profiles.first {
      hello.useSRTP?.profiles.contains($0.rawValue) ?? false
    }
    guard let profile else {
      throw HandshakeFailure(
        .handshakeFailure, "no SRTP profile in common", error: .noCommonSRTPProfile)
    }
    negotiation.scheme = try authentication.scheme(among: hello.signatureSchemes, agreed)
    negotiation.clientRandom = hello.random
    negotiation.suite = suite
    negotiation.profile = profile
    switch agreed {
    case .v12: try answer12(message, hello, suite, profile, at: now)
    case .v13: try answer13(message, hello, suite, profile, at: now)
    }
  }

  /// The newest version that both ends have (RFC 8446 §4.2.1).
  private func chooseVersion(_ hello: ClientHello) throws(HandshakeFailure) -> DTLSVersion {
    var chosen: DTLSVersion?
    if let offered = hello.supportedVersions {
      chosen = [.v13, .v12].first {
        settings.versions.contains($0) && offered.contains($0.rawValue)
      }
    } else if hello.legacyVersion >> 8 == 0xFE, hello.legacyVersion <= DTLSVersion.v12.rawValue {
      // RFC 6347 §4.1: versions count downwards; a client of 1.2 or newer takes 1.2.
      chosen = settings.versions.contains(.v12) ? .v12 : nil
    }
    guard let chosen else {
      throw HandshakeFailure(.protocolVersion, "the client speaks no version of this end's")
    }
    guard version == nil || version == chosen else {
      throw .illegalParameter("the client changed its versions")
    }
    return chosen
  }

  /// Whether the client has shown that it receives what is sent to it, or needn't.
  func hasShownCookie(_ shown: [UInt8]?) -> Bool {
    !settings.requiresCookie || negotiation.retry.accepts(shown)
  }
}
