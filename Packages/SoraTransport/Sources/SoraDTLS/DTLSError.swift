/// Why a DTLS association failed, or an operation on it was refused.
public enum DTLSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The peer's certificate isn't the one whose fingerprint was signaled: somebody else answers, or the SDP is stale.
  case fingerprintMismatch(expected: DTLSFingerprint, actual: DTLSFingerprint)
  /// The handshake worked, but the two ends share no SRTP protection profile.
  case noCommonSRTPProfile
  /// The peer ended the handshake or the association with this alert.
  case alertReceived(DTLSAlert)
  /// This end ended the handshake with this alert, for the library's reason.
  case alertSent(DTLSAlert, reason: String)
  /// The peer stopped answering during the handshake.
  case timedOut
  /// Application data was given before the association was connected, or after it ended.
  case notConnected
  /// Application data doesn't fit one datagram: `limit` bytes would.
  case messageTooLarge(count: Int, limit: Int)
  /// The text isn't a fingerprint (RFC 8122 §5).
  case invalidFingerprint(String)
  /// The hash isn't one of sha-1, sha-224, sha-256, sha-384 and sha-512.
  case unsupportedHash(String)
  /// A certificate or its key couldn't be made or read.
  case certificate(reason: String)
  /// The library refused something that should always work.
  case library(reason: String)

  public var description: String {
    switch self {
    case .fingerprintMismatch(let expected, let actual):
      "the peer's certificate has the fingerprint \(actual), its SDP said \(expected)"
    case .noCommonSRTPProfile:
      "the peer supports none of the offered SRTP profiles; offer SRTP_AES128_CM_HMAC_SHA1_80 too"
    case .alertReceived(let alert): "the peer sent the DTLS alert \(alert): \(alert.advice)"
    case .alertSent(let alert, let reason):
      "the DTLS handshake ended with the alert \(alert) (\(reason)): \(alert.advice)"
    case .timedOut:
      "the peer stopped answering the DTLS handshake: check that both ends don't take the same role"
    case .notConnected: "the DTLS association isn't connected"
    case .messageTooLarge(let count, let limit):
      "\(count) bytes don't fit one DTLS datagram: send at most \(limit)"
    case .invalidFingerprint(let text):
      "'\(text)' isn't a certificate fingerprint such as 'sha-256 AB:CD:...'"
    case .unsupportedHash(let name):
      "the hash '\(name)' isn't supported: use sha-1, sha-224, sha-256, sha-384 or sha-512"
    case .certificate(let reason): "the certificate can't be used: \(reason)"
    case .library(let reason): "the DTLS library failed: \(reason)"
    }
  }
}

/// An alert of TLS, by its number (RFC 5246 §7.2).
public struct DTLSAlert: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let closeNotify = DTLSAlert(rawValue: 0)
  public static let handshakeFailure = DTLSAlert(rawValue: 40)
  public static let badCertificate = DTLSAlert(rawValue: 42)
  public static let protocolVersion = DTLSAlert(rawValue: 70)

  private static let names: [UInt8: String] = [
    0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow",
    30: "decompression_failure", 40: "handshake_failure", 42: "bad_certificate",
    43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
    46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
    50: "decode_error", 51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
    80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
    100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
    116: "certificate_required", 120: "no_application_protocol",
  ]

  /// The name in RFC 5246 and its successors, or the number.
  public var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }

  /// What whoever sees this alert can do.
  public var advice: String {
    switch rawValue {
    case 0: "the peer closed the connection"
    case 40, 71: "the two ends share no cipher suite, curve or signature algorithm"
    case 42, 46, 48: "compare the certificate with the fingerprint in the SDP"
    case 43: "use an ECDSA P-256 or RSA certificate"
    case 45: "renew the certificate"
    case 70: "the two ends share no version of DTLS"
    case 116: "the peer asks for a certificate"
    case 20, 51: "the peers disagree about the keys; start the connection anew"
    default: "start the connection anew; if it repeats, look at the peer's log"
    }
  }
}
