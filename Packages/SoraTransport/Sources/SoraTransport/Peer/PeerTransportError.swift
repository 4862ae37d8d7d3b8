public import SoraDTLS
public import SoraICE
public import SoraSRTP

/// Why a peer's transport failed, by the stage it died in.
public enum PeerTransportError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No candidate pair worked.
  case noCandidatePair(localCandidates: Int, remoteCandidates: Int)
  /// No candidate pair worked, and these STUN and TURN servers gave no address.
  case serversFailed([ICEServerFailure], localCandidates: Int, remoteCandidates: Int)
  /// The peer stopped answering consent checks (RFC 7675).
  case consentLost
  /// The DTLS handshake failed, or the association broke.
  case dtls(DTLSError)
  /// SRTP could not be set up from the handshake's keys.
  case srtp(SRTPError)
  /// The peer closed the DTLS association (close_notify).
  case closedByPeer

  /// The stage as a word for logs and one-line messages.
  public var stage: String {
    switch self {
    case .noCandidatePair, .serversFailed, .consentLost: "ICE"
    case .dtls, .closedByPeer: "DTLS"
    case .srtp: "SRTP"
    }
  }

  /// Whether an ICE restart may lead out of it (W3C `RTCIceTransportState`, "failed").
  public var isRecoverable: Bool {
    switch self {
    case .noCandidatePair, .serversFailed, .consentLost: true
    case .dtls, .srtp, .closedByPeer: false
    }
  }

  public var description: String {
    switch self {
    case .noCandidatePair(let local, let remote):
      "ICE: no candidate pair worked (\(local) local, \(remote) remote candidates); check that UDP passes "
        + "between the two addresses, or offer a TURN server"
    case .serversFailed(let failures, let local, let remote):
      failures.isEmpty
        ? "ICE: no relayed candidate pair worked (\(local) local, \(remote) remote candidates); the transport "
          + "policy \"relay\" wants a TURN server"
        : "ICE: no candidate pair worked (\(local) local, \(remote) remote candidates), and "
          + failures.map { "\($0)" }.joined(separator: "; ")
    case .consentLost:
      "ICE: the peer has stopped answering; it vanished or the network between broke"
    case .dtls(let error): "DTLS: \(error)"
    case .srtp(let error): "SRTP: \(error)"
    case .closedByPeer: "DTLS: the peer closed the connection"
    }
  }
}
