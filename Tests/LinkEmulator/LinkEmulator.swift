import Foundation
import SoraCommandSupport

/// A bad link between two network devices (TUN, IP packets without a header): `LinkEmulator FIRST SECOND SEED`, with the numbers of
/// descriptors that it inherits.
///
/// It takes requests as lines of JSON on standard input (`LinkRequest`), answers on standard output, and leaves when its
/// input ends.
@main
struct LinkEmulator {
  static func main() {
    let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
    guard numbers.count == 3, let first = Int32(exactly: numbers[0]),
      let second = Int32(exactly: numbers[1])
    else {
      FileHandle.standardError.write(Data("usage: LinkEmulator FIRST SECOND SEED\n".utf8))
      exit(2)
    }
    let emulation = Emulation(devices: (first, second), seed: numbers[2])
    JSONLines.write(["type": "ready"])
    emulation.run { line in
      do {
        switch try JSONDecoder().decode(LinkRequest.self, from: Data(line.utf8)) {
        case .set(let forward, let backward):
          emulation.set(forward: forward.link(), backward: backward.link())
          JSONLines.write(["type": "set"])
        case .statistics:
          let (forward, backward) = emulation.statistics
          JSONLines.write([
            "type": "statistics", "forward": forward.json, "backward": backward.json,
          ])
        }
      } catch {
        JSONLines.write(["type": "error", "error": "\(error)"])
      }
    }
  }
}
