public import SoraTransport

/// What happens to a peer connection. All calls come on the connection's own serial queue, in order; none blocks the
/// network. Every method has an empty default.
public protocol RTCPeerConnectionDelegate: AnyObject, Sendable {
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didChange stateChanged: RTCSignalingState)
  /// The other side started a stream.
  func peerConnection(_ peerConnection: RTCPeerConnection, didAdd stream: RTCMediaStream)
  /// The other side withdrew a stream.
  func peerConnection(_ peerConnection: RTCPeerConnection, didRemove stream: RTCMediaStream)
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didChange newState: RTCIceConnectionState)
  func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCIceGatheringState)
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didChange newState: RTCPeerConnectionState)
  /// A local candidate to signal.
  func peerConnection(_ peerConnection: RTCPeerConnection, didGenerate candidate: RTCIceCandidate)
  /// A track of a received stream came up.
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didStartReceivingOn transceiver: RTCRtpTransceiver)
  /// An offer is wanted (W3C `negotiationneeded`): for tracks that were added, or a restart that was asked for. Not called again
  /// before the signaling state has been stable anew.
  func peerConnectionShouldNegotiate(_ peerConnection: RTCPeerConnection)
  /// The other side has opened a data channel.
  func peerConnection(_ peerConnection: RTCPeerConnection, didOpen dataChannel: RTCDataChannel)
  /// The connection failed; called before the state changes to `failed`, each time it does. Where the error `isRecoverable`, `restartIce` and
  /// a new offer lead out of it.
  func peerConnection(_ peerConnection: RTCPeerConnection, didFailWith error: PeerTransportError)
  /// A transceiver's track can't be encoded or played; the connection goes on without it. Not libwebrtc's.
  func peerConnection(
    _ peerConnection: RTCPeerConnection, transceiver: RTCRtpTransceiver,
    didFailWith error: MediaFailure)
  /// A candidate in the other side's description can't be read and is left out. Not libwebrtc's.
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didIgnoreRemoteCandidate error: NegotiationError)
}

extension RTCPeerConnectionDelegate {
  public func peerConnection(_: RTCPeerConnection, didOpen: RTCDataChannel) {}
  public func peerConnection(_: RTCPeerConnection, didChange: RTCSignalingState) {}
  public func peerConnection(_: RTCPeerConnection, didAdd: RTCMediaStream) {}
  public func peerConnection(_: RTCPeerConnection, didRemove: RTCMediaStream) {}
  public func peerConnection(_: RTCPeerConnection, didChange: RTCIceConnectionState) {}
  public func peerConnection(_: RTCPeerConnection, didChange: RTCIceGatheringState) {}
  public func peerConnection(_: RTCPeerConnection, didChange: RTCPeerConnectionState) {}
  public func peerConnection(_: RTCPeerConnection, didGenerate: RTCIceCandidate) {}
  public func peerConnection(_: RTCPeerConnection, didStartReceivingOn: RTCRtpTransceiver) {}
  public func peerConnectionShouldNegotiate(_: RTCPeerConnection) {}
  public func peerConnection(_: RTCPeerConnection, didFailWith: PeerTransportError) {}
  public func peerConnection(
    _: RTCPeerConnection, transceiver: RTCRtpTransceiver, didFailWith: MediaFailure
  ) {}
  public func peerConnection(_: RTCPeerConnection, didIgnoreRemoteCandidate: NegotiationError) {}
}
