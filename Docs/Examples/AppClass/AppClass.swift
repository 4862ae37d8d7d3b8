// sample: run, swift5
import Foundation
import Sora
import SoraCapture

/// Counts frames. Renderers are `Sendable`: here by the word of who knows that one queue alone calls it.
final class Screen: VideoRenderer, @unchecked Sendable {
  var frames = 0
  var size = CGSize.zero

  func onChange(size: CGSize) { self.size = size }

  func render(videoFrame: VideoFrame?) { frames += 1 }
}

/// A class as apps for iOS have it: plain properties, which its handlers set, and no word of concurrency. In Swift 5 mode.
class CallModel {
  var mediaChannel: MediaChannel?
  var streams: [String] = []
  let screen = Screen()

  func start() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    var configuration = Configuration(
      url: url, channelId: "sora", role: .sendrecv, multistreamEnabled: true)
    configuration.videoCodec = .vp8
    configuration.cameraSettings.isEnabled = false
    configuration.mediaChannelHandlers.onAddStream = { [weak self] stream in
      self?.streams.append(stream.streamId)
      // What goes out is shown as well.
      stream.videoRenderer = self?.screen
    }
    configuration.mediaChannelHandlers.onDisconnect = { [weak self] error in
      self?.mediaChannel = nil
      exit(error == nil && self?.screen.size.width == 320 ? 0 : 1)
    }
    _ = Sora.shared.connect(configuration: configuration) { [weak self] mediaChannel, error in
      if let error {
        print("not connected: \(error.localizedDescription)")
        return
      }
      self?.mediaChannel = mediaChannel
      self?.film()
    }
  }

  func film() {
    let pattern = TestPattern(width: 320, height: 180)
    for index in 0..<UInt32(10) {
      let frame = VideoFrame(from: pattern.frame(index: index, milliseconds: 0))
      mediaChannel?.senderStream?.send(videoFrame: frame)
    }
    let size = screen.size
    print("\(streams): \(screen.frames) frames of \(Int(size.width))x\(Int(size.height))")
    mediaChannel?.disconnect(error: nil)
  }
}

@main enum AppClass {
  static let model = CallModel()

  static func main() {
    model.start()
    dispatchMain()
  }
}
