import NIOCore
import NIOPosix
import NIOSSL
import SoraSignaling

/// What the network's and TLS's errors mean to a person.
enum StreamErrors {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as SignalingError: return error.description
    case let error as NIOConnectionError:
      guard let first = error.connectionErrors.first?.error else { return "the host is unknown" }
      return text(first)
    case ChannelError.connectTimeout: return "the host did not answer"
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
      let text = String(describing: error)
      return text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname")
        || text.contains("unableToValidateCertificate")
        ? "the server's certificate is not trusted; give the authority's file or the certificate's SHA-256"
        : "the TLS handshake failed: \(text)"
    default: return "\(error)"
    }
  }
}
