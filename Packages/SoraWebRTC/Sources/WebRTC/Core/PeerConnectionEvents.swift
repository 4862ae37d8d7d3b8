public import SoraICE
public import SoraMedia
public import SoraRTP
public import SoraTransport

/// What a `PeerConnectionCore` tells its owner, beside media.
public enum PeerConnectionEvent {
  case signalingStateChanged(SignalingState)
  /// An offer of ours is wanted (W3C `negotiationneeded`); once, until the signaling state is stable again.
  case negotiationNeeded
  case transportStateChanged(PeerTransportState)
  /// A local candidate to signal: `candidate:...`.
  case candidateGenerated(String)
  /// Every STUN and TURN server has answered or was given up.
  case gatheringEnded
  /// A STUN or TURN server was given by name: resolve it, and call `PeerTransport.resolved`.
  case serverAddressesNeeded(name: String)
  /// A remote candidate is a host name: resolve it, and add it again with an address.
  case addressNeeded(ICECandidate)
  case streamAdded(id: String)
  case trackAdded(JSEPTransceiver, streamIDs: [String])
  case trackRemoved(JSEPTransceiver, streamIDs: [String])
  case streamRemoved(id: String)
  /// Streams to send and receive have been set up anew; `PeerConnectionCore.media` tells how.
  case negotiated
  /// Bits a second that all media together may take.
  case targetBitrateChanged(Int)
  /// The receiver of a transceiver's video asks for a key frame.
  case keyFrameWanted(transceiverID: Int)
}

/// Takes what a `PeerConnectionCore` gives. Called on the loop that drives the core, inside its calls.
public protocol PeerConnectionCoreDelegate: AnyObject {
  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant)
  /// A complete video frame of a transceiver's receiver, in decoding order.
  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant)
  /// One audio packet of a transceiver's receiver, in arrival order. The payload is lent for the call.
  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant)
}
