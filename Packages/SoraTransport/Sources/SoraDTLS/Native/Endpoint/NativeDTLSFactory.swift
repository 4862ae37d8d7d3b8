public import SoraMedia

/// Makes endpoints of this project's own DTLS 1.3 (RFC 9147) and 1.2 (RFC 6347), which run on the time and the randomness
/// that are handed to them.
public struct NativeDTLSFactory: DTLSEndpointFactory, Sendable {
  /// Of the endpoints that are made from now on.
  public var settings = NativeDTLSSettings()

  public init() {}

  /// Makes one end of an association.
  ///
  /// Its randoms, cookies and key shares come from `random`: outside of simulations that has to be a cryptographically
  /// secure generator, such as `RandomSource.system()` of SoraClock. A seeded source shows its state in every hello.
  public func makeEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?,
    random: RandomSource
  ) throws(DTLSError) -> any DTLSEndpoint {
    try makeNativeEndpoint(
      role: role, certificate: certificate, expectedFingerprint: expectedFingerprint,
      random: random)
  }

  /// As `makeEndpoint`, with the concrete type.
  public func makeNativeEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?,
    random: RandomSource
  ) throws(DTLSError) -> NativeDTLSEndpoint {
    guard let kind = unsafe SigningKeyKind(certificate.privateKey) else {
      throw .certificate(reason: "its key is neither ECDSA P-256 nor RSA")
    }
    guard !settings.versions.isEmpty, !settings.groups.isEmpty, !settings.profiles.isEmpty,
      settings.versions.allSatisfy({ version in
        settings.cipherSuites.contains { $0.version == version }
      })
    else { throw .library(reason: "no version, cipher suite, group or SRTP profile to offer") }
    return NativeDTLSEndpoint(
      role: role, settings: settings, certificate: certificate, keyKind: kind,
      expectedFingerprint: expectedFingerprint, random: random)
  }
}
