// sample: run, server "--secret-key an-open-secret"
import Foundation
import Sora

/// What the server's authentication looks at.
struct ConnectMetadata: Encodable {
  let access_token: String
}

/// What the others of the channel are told.
struct NotifyMetadata: Encodable {
  let name: String
  let seat: Int
}

/// A server that asks for a token refuses a wrong one; who comes in with the right one is shown to the others by name.
@main enum Metadata {
  static let url = URL(string: "ws://127.0.0.1:5000/signaling")!

  static func main() {
    let wrong = configuration(token: "a wrong one")
    _ = Sora.shared.connect(configuration: wrong) { _, error in
      guard case .webSocketClosed(let statusCode, let reason)? = error as? SoraError else {
        print("expected to be refused: \(error?.localizedDescription ?? "connected")")
        exit(1)
      }
      print("refused: \(statusCode.intValue()) \(reason ?? "")")
      watch()
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 30) { exit(1) }
    dispatchMain()
  }

  static func configuration(token: String) -> Configuration {
    var configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    configuration.signalingConnectMetadata = ConnectMetadata(access_token: token)
    return configuration
  }

  /// Waits for somebody to come.
  static func watch() {
    let configuration = configuration(token: "an-open-secret")
    configuration.mediaChannelHandlers.onReceiveSignaling = { message in
      guard case .notify(let event) = message, event.eventType == "connection.created",
        let metadata = event.metadata as? [String: Any]
      else { return }
      let name = metadata["name"] as? String
      print("\(name ?? "-") has come")
      exit(name == "ben" ? 0 : 1)
    }
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if error != nil { exit(1) }
      come()
    }
  }

  static func come() {
    var configuration = configuration(token: "an-open-secret")
    configuration.signalingConnectNotifyMetadata = NotifyMetadata(name: "ben", seat: 12)
    _ = Sora.shared.connect(configuration: configuration) { _, error in
      if error != nil { exit(1) }
    }
  }
}
