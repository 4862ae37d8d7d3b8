// sample: run
import Foundation
import Sora
import Synchronization

/// Counts the frames of sound that aren't silent.
final class Ear: AudioSink {
  private let count = Mutex(0)

  var heard: Int { count.withLock { $0 } }

  func receive(_ frame: AudioFrame) {
    if frame.samples.contains(where: { $0 > 1_000 }) { count.withLock { $0 += 1 } }
  }
}

/// Two speak; one of them is silenced by their connection id, here and for nobody else.
@main enum MuteByConnectionId {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!
  static let ears = Mutex<[String: Ear]>([:])

  static func main() {
    let ready = DispatchGroup()
    for name in ["anna", "ben"] {
      ready.enter()
      var configuration = Configuration(
        url: url, channelId: "sora", role: .sendonly, multistreamEnabled: true)
      configuration.clientId = name
      configuration.videoEnabled = false
      _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
        guard let mediaChannel else {
          print("\(name) isn't there: \(error?.localizedDescription ?? "")")
          exit(1)
        }
        ready.leave()
        Task { await speak(through: mediaChannel) }
      }
    }
    ready.notify(queue: .main) { listen() }
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
      let ear = Ear()
      ears.withLock { $0[stream.streamId] = ear }
      stream.addAudioSink(ear)
    }
    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else { exit(1) }
      Task { await silence("anna", in: mediaChannel) }
    }
  }

  static func silence(_ name: String, in mediaChannel: MediaChannel) async {
    // A remote stream has the connection id of who sends it.
    let channels = Sora.shared.mediaChannels
    guard let anna = channels.first(where: { $0.clientId == name })?.connectionId,
      let ben = channels.first(where: { $0.clientId == "ben" })?.connectionId
    else { exit(1) }
    await untilHeard(anna, 20)
    await untilHeard(ben, 20)
    print("both are heard")

    mute(true, connectionId: anna, in: mediaChannel)
    // What was on its way to the sink is still heard.
    await untilHeard(ben, heard(ben) + 50)
    let before = heard(anna)
    await untilHeard(ben, heard(ben) + 50)
    guard heard(anna) == before else {
      print("\(name) is heard still")
      exit(1)
    }
    print("\(name) is silent, and the other is heard")

    mute(false, connectionId: anna, in: mediaChannel)
    await untilHeard(anna, before + 20)
    print("both are heard again")
    exit(0)
  }

  static func mute(_ isMuted: Bool, connectionId: String, in mediaChannel: MediaChannel) {
    for stream in mediaChannel.receiverStreams where stream.streamId == connectionId {
      stream.audioEnabled = !isMuted
    }
  }

  static func heard(_ connectionId: String) -> Int {
    ears.withLock { $0[connectionId]?.heard ?? 0 }
  }

  static func untilHeard(_ connectionId: String, _ count: Int) async {
    while heard(connectionId) < count { try? await Task.sleep(for: .milliseconds(20)) }
  }
}
