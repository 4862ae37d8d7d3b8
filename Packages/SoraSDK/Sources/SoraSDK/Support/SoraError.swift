public import Foundation

/// Why something of the SDK failed.
public enum SoraError: Error, LocalizedError {
  case connectionCancelled
  case connectionTimeout
  case connectionBusy(reason: String)
  /// The server closed the WebSocket with a code other than 1000.
  case webSocketClosed(statusCode: WebSocketStatusCode, reason: String?)
  /// The WebSocket could not be opened, or broke.
  case webSocketError(any Error)
  case signalingChannelError(reason: String)
  case invalidSignalingMessage
  case unknownSignalingMessageType(type: String)
  /// The peer connection failed: descriptions, ICE, DTLS or media. The reason begins with the stage.
  case peerChannelError(reason: String)
  case cameraError(reason: String)
  case messagingError(reason: String)

  public var errorDescription: String? {
    switch self {
    case .connectionCancelled: "Connection is cancelled"
    case .connectionTimeout: "Connection is timeout"
    case .connectionBusy(let reason): "Connection is busy (\(reason))"
    case .webSocketClosed(let code, let reason):
      "WebSocket is closed (\(code.intValue())\(reason.map { " " + $0 } ?? ""))"
    case .webSocketError(let error): "WebSocket error (\(error))"
    case .signalingChannelError(let reason): "SignalingChannel error (\(reason))"
    case .invalidSignalingMessage: "Invalid signaling message format"
    case .unknownSignalingMessageType(let type): "Unknown signaling message type (\(type))"
    case .peerChannelError(let reason): "PeerChannel error (\(reason))"
    case .cameraError(let reason): "Camera error (\(reason))"
    case .messagingError(let reason): "Messaging error (\(reason))"
    }
  }
}
