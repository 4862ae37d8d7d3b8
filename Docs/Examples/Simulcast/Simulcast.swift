// sample: run
import Foundation
import Sora
import SoraCapture

/// Tells the size of the frames that it is given.
final class SizeTeller: VideoRenderer {
  private let tell: @Sendable (CGSize) -> Void

  init(_ tell: @escaping @Sendable (CGSize) -> Void) { self.tell = tell }

  func onChange(size: CGSize) { tell(size) }
  func render(videoFrame: VideoFrame?) {}
}

/// One sends three layers; the other receives the lowest of them, and then asks for the highest.
@main enum Simulcast {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!
  static let lowest = DispatchGroup()

  static let screen = SizeTeller { size in
    print("receives \(Int(size.width))x\(Int(size.height))")
    if size.width == 160 { lowest.leave() }
    // A higher layer, as soon as the link and the encoder have one.
    if size.width > 160 { exit(0) }
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
