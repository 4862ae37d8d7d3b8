public import SoraICE
public import SoraTransport

/// What a `PeerConnectionCore` tells its owner, beside media.
public enum PeerConnectionEvent {
  /// Something of this has changed; comes before the events that say what, where there are any.
  case updated(PeerConnectionSnapshot)
  case signalingStateChanged(SignalingState)
  /// An offer of ours is wanted (W3C `negotiationneeded`); once, until the signaling state is stable again.
  case negotiationNeeded
  /// The life of the path, with the error that it failed with; `connectionStateChanged` is what W3C makes of its parts.
  case transportStateChanged(PeerTransportState)
  case iceStateChanged(ICEConnectionState)
  case dtlsStateChanged(DTLSTransportState)
  /// - failure: why, where the state is `failed`.
  case connectionStateChanged(PeerConnectionState, failure: PeerTransportError?)
  /// A local candidate to signal: `candidate:...`.
  case candidateGenerated(String)
  /// `complete`: every STUN and TURN server has answered or was given up.
  case gatheringStateChanged(ICEGatheringState)
  /// A candidate of the peer's description can't be read; it is left out.
  case remoteCandidateUnusable(NegotiationError)
  /// A STUN or TURN server was given by name: resolve it, and call `PeerTransport.resolved`.
  case serverAddressesNeeded(name: String)
  /// A remote candidate is a host name: resolve it, and add it again with an address.
  case addressNeeded(ICECandidate)
  case streamAdded(id: String)
  case trackAdded(transceiverID: Int, streamIDs: [String])
  case trackRemoved(transceiverID: Int, streamIDs: [String])
  case streamRemoved(id: String)
  /// Streams to send and receive have been set up anew, as these sections say.
  case negotiated([NegotiatedMedia])
  /// Bits per second that all media together may take.
  case targetBitrateChanged(Int)
  /// The receiver of a transceiver's video asks for a key frame.
  case keyFrameWanted(transceiverID: Int)
  /// A key of a telephone begins or ends that the peer of a transceiver tells of.
  case keyReceived(RTCDtmfEvent, transceiverID: Int)
  /// A key that a transceiver was to play begins, or a pause (`,`); nil once all have been played.
  case keyPlayed(Character?, remaining: String, transceiverID: Int)
}
