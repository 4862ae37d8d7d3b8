// sample: run
import Foundation
import Sora
import SoraCapture
import Synchronization

/// Tells the width of each frame that it is given.
final class WidthTeller: VideoRenderer {
  private let tell: @Sendable (Int) -> Void

  init(_ tell: @escaping @Sendable (Int) -> Void) { self.tell = tell }

  func onChange(size: CGSize) { print("receives \(Int(size.width))x\(Int(size.height))") }
  func render(videoFrame: VideoFrame?) {
    if let videoFrame { tell(videoFrame.width) }
  }
}

/// One sends three layers; the other receives the lowest of them for three seconds, and then asks for the highest.
@main enum Simulcast {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!
  static let lowest = DispatchGroup()
  static let frames = Mutex(0)

  static let screen = WidthTeller { width in
    let count = frames.withLock { frames in
      frames += 1
      return frames
    }
    // Another layer comes by the call alone.
    if width > 160 { exit(count > 90 ? 0 : 1) }
    if count == 90 { lowest.leave() }
  }

  static func main() {
    lowest.enter()
    lowest.enter()
    publish()
    lowest.notify(queue: .main) { Task { await askForHighest() } }
    DispatchQueue.main.asyncAfter(deadline: .now() + 45) { exit(1) }
    dispatchMain()
  }

  static func publish() {
    var configuration = Configuration(
      url: url, channelId: "sora", role: .sendonly, multistreamEnabled: true)
    configuration.cameraSettings.isEnabled = false
    configuration.videoCodec = .vp8
    configuration.videoBitRate = 1_500
    configuration.simulcastEnabled = true
    configuration.mediaChannelHandlers.onReceiveSignaling = { message in
      guard case .offer(let offer) = message else { return }
      for encoding in offer.encodings ?? [] {
        print("sends \(encoding.rid ?? "-"), a side by \(encoding.scaleResolutionDownBy ?? 1)")
      }
    }
    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else {
        print("not connected: \(error?.localizedDescription ?? "")")
        exit(1)
      }
      play()
      Task { await film(to: mediaChannel) }
    }
  }

  /// In place of a camera.
  static func film(to mediaChannel: MediaChannel) async {
    let pattern = TestPattern(width: 640, height: 360)
    for index in UInt32(0)... where mediaChannel.isAvailable {
      let frame = VideoFrame(from: pattern.frame(index: index, milliseconds: 0))
      mediaChannel.senderStream?.send(videoFrame: frame)
      try? await Task.sleep(for: .milliseconds(33))
    }
  }

  static func play() {
    var configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    configuration.clientId = "player"
    configuration.simulcastEnabled = true
    configuration.simulcastRid = .r0
    configuration.mediaChannelHandlers.onAddStream = { stream in
      stream.videoRenderer = screen
    }
    configuration.mediaChannelHandlers.onDataChannel = { _ in lowest.leave() }
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if error != nil { exit(1) }
    }
  }

  /// A call at the server, over the data channel `rpc`.
  static func askForHighest() async {
    let player = Sora.shared.mediaChannels.first { $0.clientId == "player" }
    do {
      let answer = try await player?.rpc(
        method: RequestSimulcastRid.self, params: RequestSimulcastRidParams(rid: .r2))
      print("asks for \(answer?.result.rid.rawValue ?? "-")")
    } catch {
      print("the server doesn't give another layer: \(error.localizedDescription)")
      exit(1)
    }
  }
}
