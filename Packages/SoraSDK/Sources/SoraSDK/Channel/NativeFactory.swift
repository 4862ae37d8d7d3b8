import Dispatch
import SoraSignaling
import WebRTC

/// The process's maker of peer connections.
enum NativeFactory {
  static let shared = RTCPeerConnectionFactory()
}

/// What all connections of a process share: threads, and the library behind DTLS.
enum ProcessPreparation {
  private static let once: Void = DispatchQueue.global().async {
    SignalingClient.prepare()
    // What is missing each connection meets for itself, and tells.
    try? NativeFactory.shared.prepare()
  }

  /// Starts it all, on another thread and once.
  static func begin() { once }
}
