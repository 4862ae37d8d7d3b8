import WebRTC

/// The process's maker of peer connections.
enum NativeFactory {
  static let shared = RTCPeerConnectionFactory()
}
