import Foundation
import SoraCommandSupport

/// One end of a call without a server: a bare `RTCPeerConnection`, for tests and benchmarks with other peers.
///
/// It takes requests as lines of JSON on standard input (`PeerRequest`), tells what happens as lines of JSON on standard
/// output, and leaves when its input ends. It holds one connection at a time; `open` makes a new one.
@main
struct InteropPeer {
  static func main() async {
    var session: PeerSession?
    for await line in JSONLines.input() {
      do {
        switch try JSONDecoder().decode(PeerRequest.self, from: Data(line.utf8)) {
        case .open(let options):
          session?.close()
          session = try await PeerSession(options)
        case let request:
          guard let session else { throw PeerRefusal(description: "nothing is open") }
          try await session.perform(request)
        }
      } catch {
        JSONLines.write(["type": "error", "error": "\(error)"])
      }
    }
    session?.close()
  }
}

struct PeerRefusal: Error, CustomStringConvertible {
  var description: String
}
