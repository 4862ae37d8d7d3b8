/// W3C `RTCSignalingState`.
public enum RTCSignalingState: Int, Sendable, CustomStringConvertible {
  case stable, haveLocalOffer, haveLocalPrAnswer, haveRemoteOffer, haveRemotePrAnswer, closed

  public var description: String {
    switch self {
    case .stable: "stable"
    case .haveLocalOffer: "haveLocalOffer"
    case .haveLocalPrAnswer: "haveLocalPrAnswer"
    case .haveRemoteOffer: "haveRemoteOffer"
    case .haveRemotePrAnswer: "haveRemotePrAnswer"
    case .closed: "closed"
    }
  }
}

/// W3C `RTCIceConnectionState`.
public enum RTCIceConnectionState: Int, Sendable, CustomStringConvertible {
  case new, checking, connected, completed, failed, disconnected, closed, count

  public var description: String {
    switch self {
    case .new: "new"
    case .checking: "checking"
    case .connected: "connected"
    case .completed: "completed"
    case .failed: "failed"
    case .disconnected: "disconnected"
    case .closed: "closed"
    case .count: "count"
    }
  }
}

/// W3C `RTCIceGatheringState`.
public enum RTCIceGatheringState: Int, Sendable, CustomStringConvertible {
  case new, gathering, complete

  public var description: String {
    switch self {
    case .new: "new"
    case .gathering: "gathering"
    case .complete: "complete"
    }
  }
}

/// W3C `RTCPeerConnectionState`.
public enum RTCPeerConnectionState: Int, Sendable, CustomStringConvertible {
  case new, connecting, connected, disconnected, failed, closed

  public var description: String {
    switch self {
    case .new: "new"
    case .connecting: "connecting"
    case .connected: "connected"
    case .disconnected: "disconnected"
    case .failed: "failed"
    case .closed: "closed"
    }
  }
}

/// W3C `RTCDtlsTransportState`.
public enum RTCDtlsTransportState: Int, Sendable, CustomStringConvertible {
  case new, connecting, connected, closed, failed

  public var description: String {
    switch self {
    case .new: "new"
    case .connecting: "connecting"
    case .connected: "connected"
    case .closed: "closed"
    case .failed: "failed"
    }
  }
}

/// W3C `RTCDataChannelState`.
public enum RTCDataChannelState: Int, Sendable, CustomStringConvertible {
  case connecting, open, closing, closed

  public var description: String {
    switch self {
    case .connecting: "connecting"
    case .open: "open"
    case .closing: "closing"
    case .closed: "closed"
    }
  }
}

/// W3C `RTCRtpTransceiverDirection`.
public enum RTCRtpTransceiverDirection: Int, Sendable {
  case sendRecv, sendOnly, recvOnly, inactive, stopped
}

/// What a transceiver, sender or receiver carries.
public enum RTCRtpMediaType: Int, Sendable {
  case audio, video, data, unsupported
}

/// How much the library says on its log.
public enum RTCLoggingSeverity: Int, Sendable {
  case verbose, info, warning, error, none
}
