public import Foundation

/// Why something of the SDK failed. `errorDescription` says what happened and `recoverySuggestion` what to do.
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
  /// What was asked of a channel isn't possible in its state, or with its configuration. Of the iOS SDK 2026.1.
  case mediaChannelError(reason: String)
  /// The server ended the connection over its data channel (`close`), with a code other than 1000.
  case dataChannelClosed(statusCode: Int, reason: String)
  /// There is no data channel for calls, or the server doesn't permit this one.
  case rpcUnavailable(reason: String)
  /// The parameters of a call can't be written as JSON.
  case rpcEncodingError(reason: String)
  /// The result of a call isn't of the declared type.
  case rpcDecodingError(reason: String)
  /// The data channel for calls closed before the answer.
  case rpcDataChannelClosed(reason: String)
  /// The answer to a call didn't come in time.
  case rpcTimeout
  /// The server couldn't do what a call asked for.
  case rpcServerError(detail: RPCErrorDetail)

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
    case .mediaChannelError(let reason): "MediaChannel error (\(reason))"
    case .dataChannelClosed(let code, let reason): "DataChannel is closed (\(code) \(reason))"
    case .rpcUnavailable(let reason): "RPC is unavailable (\(reason))"
    case .rpcEncodingError(let reason): "RPC encoding error (\(reason))"
    case .rpcDecodingError(let reason): "RPC decoding error (\(reason))"
    case .rpcDataChannelClosed(let reason): "RPC data channel is closed (\(reason))"
    case .rpcTimeout: "RPC is timeout"
    case .rpcServerError(let detail): "RPC server error (\(detail.code) \(detail.message))"
    }
  }

  /// The way out, in words.
  public var recoverySuggestion: String? {
    switch self {
    case .connectionCancelled: "Connect again when it is wanted"
    case .connectionTimeout:
      "Check that the server answers and that UDP passes between here and there, or allow more time with connectionTimeout"
    case .connectionBusy: "Make a new connection with Sora.connect"
    case .webSocketClosed(let code, _) where code == .other(4490):
      "The server refuses this connect: check channel id, role, metadata and options"
    case .webSocketClosed: "Check the server's log for this connection"
    case .webSocketError: "Check the signaling URL, the network and the server"
    case .signalingChannelError: "Check the configuration, the proxy and the cluster's addresses"
    case .invalidSignalingMessage, .unknownSignalingMessageType:
      "Check that the server is a Sora of a supported version; the log names the key"
    case .peerChannelError: "Check the codecs of both sides, and that UDP passes between them"
    case .cameraError: "Check that the camera is there and not in use"
    case .messagingError: "Check the label, and that data channels are in use"
    case .mediaChannelError: "Check the channel's state, its role and what it sends"
    case .dataChannelClosed: "Check the server's log for this connection"
    case .rpcUnavailable: "Use data-channel signaling, and a method of MediaChannel.rpcMethods"
    case .rpcEncodingError: "Make the Encodable conformance of the parameters write JSON"
    case .rpcDecodingError: "Declare the result as the server's version sends it"
    case .rpcDataChannelClosed: "Make a new connection with Sora.connect"
    case .rpcTimeout: "Check the network, or allow more time with the argument timeout"
    case .rpcServerError: "Check the parameters of the call"
    }
  }
}
