// sample: run, proxy
import Foundation
import Sora

/// Signals through an HTTP proxy that asks for a password; media through TURN over TCP and TLS would go the same way.
@main enum ThroughProxy {
  static func main() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    var configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    configuration.proxy = Proxy(
      host: "127.0.0.1", port: 3128, agent: "Example/1.0", username: "user", password: "password")

    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else {
        print("not connected: \(error?.localizedDescription ?? "")")
        exit(1)
      }
      print("connected as \(mediaChannel.connectionId ?? "-")")
      mediaChannel.handlers.onDisconnect = { _ in exit(0) }
      mediaChannel.disconnect(error: nil)
    }
    dispatchMain()
  }
}
