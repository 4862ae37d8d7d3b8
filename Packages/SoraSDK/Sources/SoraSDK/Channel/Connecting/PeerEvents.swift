import SoraTransport
import WebRTC

/// Leads what a peer connection says into its channel's task. Called on the peer connection's queue.
final class PeerEvents: RTCPeerConnectionDelegate, Sendable {
  enum Event: Sendable {
    /// A local candidate, `candidate:...`.
    case candidate(String)
    case connected
    /// Why, with the stage in front. `isFarewell`: the other side ended the connection in order.
    case failed(String, isFarewell: Bool)
    case added(RTCMediaStream)
    case removed(RTCMediaStream)
    /// The server has opened a data channel.
    case opened(RTCDataChannel)
  }

  private let tell: @Sendable (Event) -> Void

  init(_ tell: @escaping @Sendable (Event) -> Void) { self.tell = tell }

  func peerConnection(_: RTCPeerConnection, didGenerate candidate: RTCIceCandidate) {
    tell(.candidate(candidate.sdp))
  }

  func peerConnection(_: RTCPeerConnection, didChange state: RTCPeerConnectionState) {
    Logger.debug(type: .nativePeerChannel, message: "peer connection state: \(state)")
    if state == .connected { tell(.connected) }
  }

  func peerConnection(_: RTCPeerConnection, didFailWith error: PeerTransportError) {
    tell(.failed(error.description, isFarewell: error == .closedByPeer))
  }

  func peerConnection(
    _: RTCPeerConnection, transceiver: RTCRtpTransceiver, didFailWith error: MediaFailure
  ) {
    Logger.error(
      type: .nativePeerChannel,
      message: "\(transceiver.mediaType) of the section \"\(transceiver.mid)\": \(error)")
  }

  func peerConnection(_: RTCPeerConnection, didIgnoreRemoteCandidate error: NegotiationError) {
    Logger.warn(type: .nativePeerChannel, message: "a candidate was ignored: \(error)")
  }

  func peerConnection(_: RTCPeerConnection, didAdd stream: RTCMediaStream) {
    tell(.added(stream))
  }

  func peerConnection(_: RTCPeerConnection, didRemove stream: RTCMediaStream) {
    tell(.removed(stream))
  }

  func peerConnection(_: RTCPeerConnection, didOpen dataChannel: RTCDataChannel) {
    tell(.opened(dataChannel))
  }
}
