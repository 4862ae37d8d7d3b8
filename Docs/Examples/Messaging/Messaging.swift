// sample: run
import Foundation
import Sora

/// Two who write to each other over a data channel whose messages say who sent them.
@main enum Messaging {
  static func main() {
    let url = URL(string: "ws://127.0.0.1:5000/signaling")!
    let ready = DispatchGroup()

    for name in ["anna", "ben"] {
      var configuration = Configuration(
        url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
      configuration.clientId = name
      configuration.dataChannelSignaling = true
      configuration.dataChannels = [
        [
          "label": "#chat", "direction": "sendrecv", "compress": true,
          "header": [["type": "sender_connection_id"]],
        ] as [String: Any]
      ]

      ready.enter()
      configuration.mediaChannelHandlers.onDataChannel = { _ in ready.leave() }
      configuration.mediaChannelHandlers.onDataChannelMessage = { mediaChannel, label, data in
        // Labels of the signaling itself come here as well.
        guard label == "#chat" else { return }
        // The sender's connection id goes before the message.
        let sender = String(decoding: data.prefix(26), as: UTF8.self)
        let text = String(decoding: data.dropFirst(26), as: UTF8.self)
        print("\(name) reads \"\(text)\" of \(sender)")
        let anna = Sora.shared.mediaChannels.first { $0.clientId == "anna" }
        if name == "ben", sender == anna?.connectionId {
          send("good morning", through: mediaChannel)
        } else {
          exit(text == "good morning" ? 0 : 1)
        }
      }
      _ = Sora.shared.connect(configuration: configuration) { _, error in
        if let error {
          print("\(name) isn't there: \(error.localizedDescription)")
          exit(1)
        }
      }
    }

    ready.notify(queue: .main) {
      let anna = Sora.shared.mediaChannels.first { $0.clientId == "anna" }
      if let anna { send("hello", through: anna) }
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 30) { exit(1) }
    dispatchMain()
  }

  static func send(_ text: String, through mediaChannel: MediaChannel) {
    if let error = mediaChannel.sendMessage(label: "#chat", data: Data(text.utf8)) {
      print("not sent: \(error.localizedDescription)")
      exit(1)
    }
  }
}
