import SoraICE
import SoraSDP
import SoraTransport

// From the core's words for states and directions to those of the API, and back.

extension MediaDirection {
  init(_ direction: RTCRtpTransceiverDirection) {
    switch direction {
    case .sendRecv: self = .sendrecv
    case .sendOnly: self = .sendonly
    case .recvOnly: self = .recvonly
    case .inactive, .stopped: self = .inactive
    }
  }
}

extension RTCRtpTransceiverDirection {
  init(_ direction: MediaDirection) {
    switch direction {
    case .sendrecv: self = .sendRecv
    case .sendonly: self = .sendOnly
    case .recvonly: self = .recvOnly
    case .inactive: self = .inactive
    }
  }
}

extension RTCIceGatheringState {
  init(_ state: ICEGatheringState) {
    switch state {
    case .new: self = .new
    case .gathering: self = .gathering
    case .complete: self = .complete
    }
  }
}

extension RTCIceConnectionState {
  init(_ state: ICEConnectionState) {
    switch state {
    case .new: self = .new
    case .checking: self = .checking
    case .connected: self = .connected
    case .completed: self = .completed
    case .disconnected: self = .disconnected
    case .failed: self = .failed
    case .closed: self = .closed
    }
  }
}

extension RTCPeerConnectionState {
  init(_ state: PeerConnectionState) {
    switch state {
    case .new: self = .new
    case .connecting: self = .connecting
    case .connected: self = .connected
    case .disconnected: self = .disconnected
    case .failed: self = .failed
    case .closed: self = .closed
    }
  }
}

extension RTCDtlsTransportState {
  init(_ state: DTLSTransportState) {
    switch state {
    case .new: self = .new
    case .connecting: self = .connecting
    case .connected: self = .connected
    case .closed: self = .closed
    case .failed: self = .failed
    }
  }
}

extension RTCSessionDescription {
  convenience init(_ description: PeerConnectionSnapshot.Description) {
    self.init(type: description.kind == .offer ? .offer : .answer, sdp: description.sdp)
  }
}

extension RTCSignalingState {
  init(_ state: SignalingState) {
    switch state {
    case .stable: self = .stable
    case .haveLocalOffer: self = .haveLocalOffer
    case .haveRemoteOffer: self = .haveRemoteOffer
    case .closed: self = .closed
    }
  }
}
