// sample: run
import Foundation
import Sora

/// Connects to a channel, tells what the server said of it, and leaves.
@main enum Connect {
  static func main() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    var configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    configuration.connectionTimeout = 10

    configuration.mediaChannelHandlers.onConnect = { error in
      if let error {
        print("not connected: \(error.localizedDescription)")
      } else {
        print("connected")
      }
    }
    configuration.mediaChannelHandlers.onDisconnect = { error in
      print(error == nil ? "left" : "the connection was lost")
      exit(error == nil ? 0 : 1)
    }

    // The attempt can be given up with the task that `connect` returns.
    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else { return }
      print(
        "channel \(mediaChannel.configuration.channelId) as \(mediaChannel.connectionId ?? "-")")
      mediaChannel.disconnect(error: nil)
    }
    dispatchMain()
  }
}
