// sample: run
import Foundation
import Sora

/// Several signaling URLs of one cluster: all are tried at once, and the first that opens is used.
@main enum SeveralURLs {
  static func main() {
    let candidates = [
      // A node that is down.
      URL(string: "ws://127.0.0.1:1/signaling")!,
      URL(string: "ws://127.0.0.1:5000/signaling")!,
    ]
    let configuration = Configuration(
      urlCandidates: candidates, channelId: "sora", role: .recvonly, multistreamEnabled: true)

    _ = Sora.shared.connect(configuration: configuration) { mediaChannel, error in
      guard let mediaChannel else {
        print("none of them: \(error?.localizedDescription ?? "")")
        exit(1)
      }
      // They differ where the server has sent the client to another node.
      print("asked \(mediaChannel.contactUrl?.absoluteString ?? "-")")
      print("connected to \(mediaChannel.connectedUrl?.absoluteString ?? "-")")
      exit(mediaChannel.connectedUrl == candidates[1] ? 0 : 1)
    }
    dispatchMain()
  }
}
