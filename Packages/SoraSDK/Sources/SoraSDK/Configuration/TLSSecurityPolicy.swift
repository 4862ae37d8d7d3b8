/// Whether the certificate of a TURN server over TLS is verified.
public enum TLSSecurityPolicy: Sendable {
  case secure
  case insecure
}
