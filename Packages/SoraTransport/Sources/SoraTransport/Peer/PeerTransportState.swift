/// The life of a peer's transport, in the words of W3C's `RTCPeerConnectionState`.
public enum PeerTransportState: Equatable, Sendable {
  case new
  /// ICE checks or the DTLS handshake run.
  case connecting
  /// Packets flow, protected.
  case connected
  /// No consent response for a while; may recover.
  case disconnected
  /// An error that is reported once. Where it `isRecoverable`, a restart of ICE leads to `.connecting` again; any other has ended the
  /// transport.
  case failed(PeerTransportError)
  /// Ended by `close`.
  case closed

  /// The error of `.failed`.
  public var failure: PeerTransportError? {
    if case .failed(let error) = self { error } else { nil }
  }
}
