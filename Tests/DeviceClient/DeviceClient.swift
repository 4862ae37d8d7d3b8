import Foundation
import SoraCamera

/// What is tried with real cameras, each by a word; runs where the cameras are and says what it saw in JSON lines.
///
/// `DeviceClient WHAT PATH [MORE]`; `DeviceTests` says what must have been seen.
@main
struct DeviceClient {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2 else { fail("usage: DeviceClient WHAT PATH [MORE]") }
    let path = arguments[1]
    let more = arguments.dropFirst(2).first
    do {
      switch arguments[0] {
      case "list": try list(path)
      case "formats": try captureEachFormat(path, seconds: 20)
      case "colors": try colors(path)
      case "pace": try pace(path, frames: 100)
      case "stamps": try readStamps(path, frames: 60, format: more ?? "MJPG")
      case "encoded": try takeEncoded(path, frames: 60, format: more ?? "H264")
      case "feed": try feed(path, from: more ?? ".")
      case "again": try startAgain(path, other: more, times: 100)
      case "capturer": try await useCapturers(times: 100)
      case "held": try holdFrames(path)
      case "unplug": try unplug(path)
      case "lose": try lose(path)
      case "stall": try stall(path)
      case "controls": try controls(path)
      case "monitor": try monitor()
      case "cpu": try forget(path, format: more ?? "NV12", frames: 2_000)
      case "native": try native(path, frames: 10)
      case "restart": try restart(path, times: 20)
      case "sound": try await sound(path)
      case "open": _ = try CameraDevice(path: path).capture()
      default: fail("\(arguments[0]): unknown")
      }
      write(["type": "done", "what": arguments[0]])
    } catch {
      write(["type": "failed", "what": arguments[0], "error": "\(error)"])
      exit(1)
    }
  }
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
  exit(2)
}

/// One line of JSON on standard output, at once.
func write(_ object: [String: Any]) {
  guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
  else { fail("no JSON: \(object)") }
  FileHandle.standardOutput.write(data + [0x0A])
}
