import Dispatch
import SoraSignaling
import Synchronization
import WebRTC

/// What all connections of a process share: threads, the library behind DTLS, and what Swift's runtime looks up only once. Whatever is used
/// first takes that ten times as long, so that all of a connection is gone through once, with the process itself as its server; but not
/// where the first connection comes at once, which would have to share the processor with it.
enum ProcessPreparation {
  /// Who starts an app takes longer to choose a channel, a program of one call less to ask for it.
  private static let patience = DispatchTimeInterval.milliseconds(100)
  private static let isConnecting = Atomic(false)

  private static let once: Void = {
    DispatchQueue.global().async { SignalingClient.prepare() }
    DispatchQueue.global().async {
      // What is missing each connection meets for itself, and tells.
      try? NativeFactory.shared.prepare()
      guard let certificate = try? RTCCertificate.generate() else { return }
      _ = try? NativeFactory.shared.capabilityOffer(
        sending: [.video, .audio], streamId: "", certificate: certificate)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
      guard !isConnecting.load(ordering: .relaxed) else { return }
      NativeFactory.shared.rehearse()
      Task {
        if let offer = await SignalingClient.rehearse(connect, offer: offer) {
          _ = SignalingOffer(offer).configuration?.iceServerInfos.map(\.native)
        }
      }
    }
  }()

  /// Starts it all, on other threads and once.
  static func begin() { once }

  /// A connection begins: there is nothing left to rehearse for.
  static func connectionBegins() { isConnecting.store(true, ordering: .relaxed) }

  /// What a publisher with settings of its own says.
  private static var connect: ConnectMessage {
    var connect = ConnectMessage(role: .sendrecv, channelID: "")
    connect.sdp = ""
    connect.audio = .options(AudioOptions { $0.codecType = "OPUS" })
    connect.video = .options(VideoOptions { $0.codecType = "VP8" })
    return connect
  }

  /// What a server answers, with each kind of object that an offer has.
  private static let offer = """
    {"type":"offer","sdp":"","connection_id":"","mid":{"audio":"0"},"encodings":[{"rid":"r0"}],\
    "config":{"iceServers":[{"urls":["turn:192.0.2.1"],"username":"","credential":""}]}}
    """
}
