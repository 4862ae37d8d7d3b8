// sample: run
import Foundation
import Sora
import Synchronization

/// Knows how loud the last second was.
final class Ear: AudioSink {
  private let peaks = Mutex<[Int16]>([])

  /// The loudest sample of the last half second; nil before there was so much.
  var peak: Int16? { peaks.withLock { $0.count < 50 ? nil : $0.max() } }

  func forget() { peaks.withLock { $0 = [] } }

  func receive(_ frame: AudioFrame) {
    let peak = frame.samples.max() ?? 0
    peaks.withLock { peaks in
      peaks.append(peak)
      if peaks.count > 50 { peaks.removeFirst() }
    }
  }
}

/// Makes what another sends half as loud, and then silent.
@main enum Volume {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!
  static let ear = Ear()

  static func main() {
    var configuration = Configuration(
      url: url, channelId: "sora", role: .sendonly, multistreamEnabled: true)
    configuration.videoEnabled = false
    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else {
        print("not connected: \(error?.localizedDescription ?? "")")
        exit(1)
      }
      listen()
      Task { await speak(through: mediaChannel) }
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 30) { exit(1) }
    dispatchMain()
  }

  /// In place of a microphone.
  static func speak(through mediaChannel: MediaChannel) async {
    var sample = 0
    while mediaChannel.isAvailable {
      let samples = (0..<960).map { Int16(8_000 * sin(Double(sample + $0) * 0.06)) }
      sample += samples.count
      mediaChannel.senderStream?.send(audioFrame: AudioFrame(samples: samples))
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  static func listen() {
    let configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    configuration.mediaChannelHandlers.onAddStream = { stream in
      stream.addAudioSink(ear)
      Task { await change(stream) }
    }
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if error != nil { exit(1) }
    }
  }

  static func change(_ stream: MediaStream) async {
    // As it was sent: a tone whose greatest sample is 8,000.
    await untilPeak(isWithin: 6_000...10_000, at: stream)
    stream.remoteAudioVolume = MediaStreamAudioVolume.max / 2
    await untilPeak(isWithin: 3_000...5_000, at: stream)
    stream.remoteAudioVolume = MediaStreamAudioVolume.min
    await untilPeak(isWithin: 0...0, at: stream)
    // Beyond the range the nearest end counts.
    stream.remoteAudioVolume = 1_000
    exit(stream.remoteAudioVolume == MediaStreamAudioVolume.max ? 0 : 1)
  }

  static func untilPeak(isWithin range: ClosedRange<Int16>, at stream: MediaStream) async {
    ear.forget()
    while true {
      if let peak = ear.peak, range.contains(peak) {
        print("volume \(stream.remoteAudioVolume ?? -1): as loud as \(peak)")
        return
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}
