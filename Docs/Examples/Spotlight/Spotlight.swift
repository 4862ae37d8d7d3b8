// sample: run
import Foundation
import Sora

/// Two who speak one after the other; a third, who has room for one of them, is told who is in front.
@main enum Spotlight {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!

  static func main() {
    let ready = DispatchGroup()
    for name in ["anna", "ben"] {
      ready.enter()
      join(name, role: .sendonly) { ready.leave() }
    }
    ready.enter()
    join("viewer", role: .recvonly) { ready.leave() }

    ready.notify(queue: .main) { speak("anna") }
    DispatchQueue.main.asyncAfter(deadline: .now() + 45) { exit(1) }
    dispatchMain()
  }

  static func join(_ name: String, role: Role, then: @escaping @Sendable () -> Void) {
    var configuration = Configuration(
      url: url, channelId: "sora", role: role, multistreamEnabled: true)
    configuration.clientId = name
    configuration.videoEnabled = false
    configuration.spotlightEnabled = .enabled
    configuration.spotlightNumber = 1
    if name == "viewer" {
      configuration.mediaChannelHandlers.onReceiveSignaling = { message in
        guard case .notify(let event) = message, event.eventType == "spotlight.focused" else {
          return
        }
        print("\(event.clientId ?? "-") is in front")
        if event.clientId == "anna" { speak("ben") }
        if event.clientId == "ben" { exit(0) }
      }
    }
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if let error {
        print("\(name) isn't there: \(error.localizedDescription)")
        exit(1)
      }
      then()
    }
  }

  /// In place of a microphone: a tone of one, silence of the other.
  static func speak(_ name: String) {
    print("\(name) speaks")
    for channel in Sora.shared.mediaChannels where channel.configuration.role == .sendonly {
      channel.senderStream?.audioEnabled = channel.clientId == name
    }
    if name == "ben" { return }
    Task {
      var sample = 0
      while true {
        let samples = (0..<960).map { Int16(8_000 * sin(Double(sample + $0) * 0.06)) }
        sample += samples.count
        for channel in Sora.shared.mediaChannels where channel.configuration.role == .sendonly {
          channel.senderStream?.send(audioFrame: AudioFrame(samples: samples))
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}
