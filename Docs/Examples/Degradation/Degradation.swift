// sample: run
import Foundation
import Sora

/// Says what is to be kept where the encoder or the link can't keep up: here the size of frames, at the cost of their rate.
@main enum Degradation {
  static func main() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    var configuration = Configuration(
      url: url, channelId: "sora", role: .sendonly, multistreamEnabled: true)
    configuration.cameraSettings.isEnabled = false
    configuration.webRTCConfiguration.degradationPreference = .maintainResolution

    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else {
        print("not connected: \(error?.localizedDescription ?? "")")
        exit(1)
      }
      let senders = mediaChannel.native?.senders ?? []
      let video = senders.first { $0.track?.kind == "video" }
      guard let preference = video?.parameters.degradationPreference else { exit(1) }
      print("the video's sender has \(preference)")
      exit("\(preference)" == "maintain-resolution" ? 0 : 1)
    }
    dispatchMain()
  }
}
