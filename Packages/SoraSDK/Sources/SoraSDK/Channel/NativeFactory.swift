import Dispatch
import SoraSignaling
import WebRTC

/// The process's maker of peer connections.
enum NativeFactory {
  static let shared = RTCPeerConnectionFactory()
}

/// What all connections of a process share: threads, the library behind DTLS, and what Swift's runtime looks up only once.
enum ProcessPreparation {
  private static let once: Void = {
    DispatchQueue.global().async { SignalingClient.prepare() }
    DispatchQueue.global().async {
      // What is missing each connection meets for itself, and tells.
      try? NativeFactory.shared.prepare()
      // Whatever is used first takes the runtime ten times as long: once through what a first connection would wait for.
      guard let certificate = try? RTCCertificate.generate() else { return }
      _ = try? NativeFactory.shared.capabilityOffer(
        sending: [.video, .audio], streamId: "", certificate: certificate)
    }
  }()

  /// Starts it all, on other threads and once.
  static func begin() { once }
}
