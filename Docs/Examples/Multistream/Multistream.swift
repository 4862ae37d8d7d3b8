// sample: run
import Foundation
import Sora

/// Three who send and receive in one channel: each sees the two others come, and one go.
@main enum Multistream {
  static func main() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    let seen = DispatchGroup()
    let gone = DispatchGroup()

    for name in ["anna", "ben", "carol"] {
      var configuration = Configuration(
        url: url, channelId: "sora", role: .sendrecv, multistreamEnabled: true)
      configuration.clientId = name
      configuration.cameraSettings.isEnabled = false

      for _ in 1...2 { seen.enter() }
      configuration.mediaChannelHandlers.onAddStream = { stream in
        // The stream of one's own comes first.
        if stream.streamId == "mainStream" { return }
        print("\(name) sees \(stream.streamId)")
        seen.leave()
      }
      if name != "carol" { gone.enter() }
      configuration.mediaChannelHandlers.onRemoveStream = { stream in
        print("\(name) sees \(stream.streamId) no more")
        gone.leave()
      }
      _ = Sora.shared.connect(configuration: configuration) { _, error in
        if let error {
          print("\(name) isn't there: \(error.localizedDescription)")
          exit(1)
        }
      }
    }

    seen.notify(queue: .main) {
      let carol = Sora.shared.mediaChannels.first { $0.clientId == "carol" }
      carol?.disconnect(error: nil)
    }
    gone.notify(queue: .main) { exit(0) }
    DispatchQueue.main.asyncAfter(deadline: .now() + 30) { exit(1) }
    dispatchMain()
  }
}
