import SoraDTLS

/// A certificate for DTLS with its private key (W3C `RTCCertificate`).
///
/// A connection that is given none makes its own, so that nobody who sees two connections can tell from the key that they
/// are of one endpoint (RFC 8827 §6.5). Making one ahead moves the time that takes (under a millisecond, and several for
/// the first of a process, which has libcrypto start) to where nobody waits for it.
public final class RTCCertificate: Sendable {
  let native: DTLSCertificate

  private init(_ native: DTLSCertificate) { self.native = native }

  /// Makes a self-signed one with an ECDSA key on P-256, valid for 30 days. From any thread; takes its time.
  ///
  /// - Throws: `RTCSetupError.noCertificate`.
  public static func generate() throws(RTCSetupError) -> RTCCertificate {
    do {
      return RTCCertificate(try DTLSCertificate.generate())
    } catch {
      throw .noCertificate(error)
    }
  }

  /// The SHA-256 of the certificate, as `a=fingerprint` writes it: `sha-256 AB:CD:...`.
  public var fingerprint: String { native.fingerprint.description }
}
