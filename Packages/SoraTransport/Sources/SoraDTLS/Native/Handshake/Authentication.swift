import SoraMedia

/// Who this end is, and who the peer has to be. Chains and dates don't count (RFC 8122 §6.2): only the fingerprint does.
struct Authentication {
  private let certificate: DTLSCertificate
  private let keyKind: SigningKeyKind
  private let expectedFingerprint: DTLSFingerprint?

  init(certificate: DTLSCertificate, keyKind: SigningKeyKind, expectedFingerprint: DTLSFingerprint?)
  {
    self.certificate = certificate
    self.keyKind = keyKind
    self.expectedFingerprint = expectedFingerprint
  }

  // MARK: - This end

  /// Whether this end's key can do what a cipher suite wants of a server's.
  func fits(_ suite: DTLSCipherSuite) -> Bool { suite.fits(keyKind) }

  /// What this end signs with, from what the peer takes.
  func scheme(
    among offered: [UInt16]?, _ version: DTLSVersion
  ) throws(HandshakeFailure) -> SignatureScheme {
    let scheme = SignatureScheme.schemes(for: keyKind, version).first {
      offered?.contains($0.rawValue) ?? false
    }
    guard let scheme else {
      throw HandshakeFailure(
        .handshakeFailure, "the peer takes no signature of this end's kind of key")
    }
    return scheme
  }

  /// Signs with this end's key.
  func sign(
    _ content: [UInt8], _ scheme: SignatureScheme
  ) throws(HandshakeFailure) -> CertificateVerify {
    unsafe CertificateVerify(
      scheme: scheme.rawValue,
      signature: try scheme.sign(content, with: certificate.privateKey))
  }

  /// The body of this end's Certificate.
  func certificateBody(_ version: DTLSVersion, context: [UInt8]) -> [UInt8] {
    var message = CertificateMessage(certificates: [certificate.derBytes])
    message.context = context
    return message.encoded(version)
  }

  // MARK: - The peer

  /// Takes the certificate that the peer shows, DER, where it is the expected one.
  func accept(_ der: [UInt8]) throws(HandshakeFailure) -> PeerCertificate {
    try checkFingerprint(of: der)
    return try PeerCertificate(der: der)
  }

  private func checkFingerprint(of certificate: [UInt8]) throws(HandshakeFailure) {
    guard let expectedFingerprint else { return }
    let actual: DTLSFingerprint
    do throws(DTLSError) {
      actual = try DTLSFingerprint(of: certificate, algorithm: expectedFingerprint.algorithm)
    } catch {
      throw HandshakeFailure(.internalError, "\(error)", error: error)
    }
    guard
      actual.bytes.count == expectedFingerprint.bytes.count, actual == expectedFingerprint
    else {
      throw HandshakeFailure(
        .badCertificate, "the peer's certificate has another fingerprint",
        error: .fingerprintMismatch(expected: expectedFingerprint, actual: actual))
    }
  }
}
