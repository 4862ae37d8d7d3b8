// sample: run
import Foundation
import Sora
import SoraCapture
import Synchronization

/// Counts the frames of a stream.
final class Counter: VideoRenderer {
  private let count = Mutex(0)

  var frames: Int { count.withLock { $0 } }

  func render(videoFrame: VideoFrame?) { count.withLock { $0 += 1 } }
}

/// Two send video; a third one tells the server when connecting that it doesn't want that of one of them.
@main enum Filtering {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!
  static let counters = Mutex<[String: Counter]>([:])

  static func main() {
    let ready = DispatchGroup()
    for name in ["anna", "ben"] {
      ready.enter()
      var configuration = Configuration(
        url: url, channelId: "sora", role: .sendonly, multistreamEnabled: true)
      configuration.clientId = name
      configuration.videoCodec = .vp8
      configuration.cameraSettings.isEnabled = false
      _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
        guard let mediaChannel else {
          print("\(name) isn't there: \(error?.localizedDescription ?? "")")
          exit(1)
        }
        ready.leave()
        Task { await film(to: mediaChannel) }
      }
    }
    ready.notify(queue: .main) { watch() }
    DispatchQueue.main.asyncAfter(deadline: .now() + 30) { exit(1) }
    dispatchMain()
  }

  /// In place of a camera.
  static func film(to mediaChannel: MediaChannel) async {
    let pattern = TestPattern(width: 320, height: 180)
    for index in UInt32(0)... where mediaChannel.isAvailable {
      let frame = VideoFrame(from: pattern.frame(index: index, milliseconds: 0))
      mediaChannel.senderStream?.send(videoFrame: frame)
      try? await Task.sleep(for: .milliseconds(33))
    }
  }

  static func watch() {
    var configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    // What is in one list must all be true; of several lists one is enough.
    let video = ForwardingFilterRule(field: .kind, operator: .isIn, values: ["video"])
    let ben = ForwardingFilterRule(field: .clientId, operator: .isIn, values: ["ben"])
    configuration.forwardingFilters = [
      ForwardingFilter(name: "no-ben", priority: 1, action: .block, rules: [[video, ben]])
    ]
    configuration.mediaChannelHandlers.onAddStream = { stream in
      let counter = Counter()
      counters.withLock { $0[stream.streamId] = counter }
      stream.videoRenderer = counter
    }
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if error != nil { exit(1) }
      Task { await compare() }
    }
  }

  static func compare() async {
    while frames(of: "anna") < 60 { try? await Task.sleep(for: .milliseconds(50)) }
    print("of anna \(frames(of: "anna")) frames, of ben \(frames(of: "ben"))")
    exit(frames(of: "ben") == 0 ? 0 : 1)
  }

  static func frames(of name: String) -> Int {
    let channel = Sora.shared.mediaChannels.first { $0.clientId == name }
    return counters.withLock { $0[channel?.connectionId ?? ""]?.frames ?? 0 }
  }
}
