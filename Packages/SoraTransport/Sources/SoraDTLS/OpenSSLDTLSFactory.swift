import COpenSSL
import CSoraDTLS
public import SoraMedia

/// Makes endpoints over libssl: DTLS 1.2, one shared context, a certificate for each endpoint.
///
/// `@unchecked Sendable`: the context is written only in `init`; afterwards libssl reads it and counts its references
/// atomically, which it documents as safe from several threads.
@safe public final class OpenSSLDTLSFactory: DTLSEndpointFactory, @unchecked Sendable {
  /// Largest datagram in bytes that endpoints send.
  public static let mtu = 1200

  /// The SRTP profiles that endpoints offer and accept, the preferred one first.
  public let profiles: [SRTPProfile]

  private let context: OpaquePointer

  /// ECDHE only, with ciphers that WebRTC peers have (RFC 8827 §6.5): AES-GCM first, ChaCha20 for CPUs without AES.
  private static let ciphers = """
    ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
    ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:\
    ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384
    """

  /// - Parameter profiles: the SRTP profiles to offer, the preferred one first. Not empty.
  /// - Throws: ``DTLSError/library(reason:)``.
  public init(
    profiles: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80]
  ) throws(DTLSError) {
    self.profiles = profiles
    ERR_clear_error()
    guard let context = unsafe SSL_CTX_new(DTLS_method()) else {
      throw .library(reason: takeLibraryError())
    }
    unsafe self.context = unsafe context
    unsafe sora_dtls_context_set_options(context)
    // SSL_CTX_set_tlsext_use_srtp returns 0 where it worked.
    let names = profiles.map(\.libraryName).joined(separator: ":")
    guard unsafe sora_dtls_context_set_dtls12(context) == 1,
      unsafe SSL_CTX_set_cipher_list(context, Self.ciphers) == 1,
      unsafe sora_dtls_context_set_groups(context, "X25519:P-256:P-384") == 1,
      unsafe SSL_CTX_set_tlsext_use_srtp(context, names) == 0
    else { throw .library(reason: takeLibraryError()) }
    // RFC 5763 §5: both ends show a certificate, which only the fingerprint vouches for.
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    unsafe SSL_CTX_set_cert_verify_callback(context, OpenSSLDTLSEndpoint.verifyCallback, nil)
    unsafe SSL_CTX_set_info_callback(context, OpenSSLDTLSEndpoint.infoCallback)
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// Makes one end of an association. `random` isn't used: libssl draws from its own generator.
  public func makeEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?,
    random: RandomSource
  ) throws(DTLSError) -> any DTLSEndpoint {
    try makeOpenSSLEndpoint(
      role: role, certificate: certificate, expectedFingerprint: expectedFingerprint)
  }

  /// As `makeEndpoint`, with the concrete type.
  public func makeOpenSSLEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?
  ) throws(DTLSError) -> OpenSSLDTLSEndpoint {
    unsafe try OpenSSLDTLSEndpoint(
      context: context, mtu: Self.mtu, role: role, certificate: certificate,
      expectedFingerprint: expectedFingerprint)
  }
}

extension SRTPProfile {
  /// What libssl calls the profile.
  fileprivate var libraryName: String {
    switch self {
    case .aes128CMSHA1_80: "SRTP_AES128_CM_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }
}
