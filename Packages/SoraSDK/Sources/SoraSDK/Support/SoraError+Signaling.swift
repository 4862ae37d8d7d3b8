import SoraSignaling

extension SoraError {
  /// What an app is told when signaling failed: the case says the kind, the associated value the stage and the way out.
  init(_ error: SignalingError) {
    switch (error.stage, error.code) {
    case (_, .closed(let code, let reason)):
      self = .webSocketClosed(
        statusCode: WebSocketStatusCode(rawValue: Int(code.rawValue)),
        reason: reason.isEmpty ? nil : reason)
    case (_, .cancelled): self = .connectionCancelled
    case (.message, _): self = .invalidSignalingMessage
    case (.configuration, _), (.redirect, _), (_, .proxyAuthenticationRequired):
      self = .signalingChannelError(reason: error.description)
    default: self = .webSocketError(error)
    }
  }
}
