import WebRTC

/// The process's maker of peer connections.
enum NativeFactory {
  static let shared = RTCPeerConnectionFactory()

  /// An offer that says which codecs this side has, from a connection that is thrown away; nil for roles that don't
  /// send, and where it can't be made (the server then goes by its own defaults).
  static func capability(of configuration: Configuration) async -> String? {
    guard configuration.role.sends,
      let peer = shared.peerConnection(with: configuration.webRTCConfiguration.native)
    else { return nil }
    defer { peer.close() }
    do {
      try await peer.addTransceiver(of: .video, direction: .sendOnly, streamIds: ["offer"])
      try await peer.addTransceiver(of: .audio, direction: .sendOnly, streamIds: ["offer"])
      return try await peer.offer().sdp
    } catch {
      Logger.warn(type: .peerChannel, message: "no capability offer could be made: \(error)")
      return nil
    }
  }
}
