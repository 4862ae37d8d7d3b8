import Foundation
import SoraClock
import SoraMedia
import SoraSDK

// `ConnectAgain URL CHANNEL KBPS COUNT`: an app that has been running for a second connects as a publisher of video and audio, one time after
// the other. Prints a line of JSON with the milliseconds of each.

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("ConnectAgain: \(message)\n".utf8))
  exit(1)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 4, let url = URL(string: words[0]), let kbps = Int(words[2]),
  let count = Int(words[3])
else { fail("usage: ConnectAgain URL CHANNEL KBPS COUNT") }

let sora = Sora.shared
try await Task.sleep(for: .seconds(1))
for _ in 0..<count {
  var configuration = Configuration(url: url, channelId: words[1], role: .sendonly)
  configuration.videoCodec = .vp8
  configuration.videoBitRate = kbps
  configuration.cameraSettings.isEnabled = false
  do {
    let start = SystemClock.now
    let channel = try await sora.connect(configuration: configuration)
    let milliseconds = (SystemClock.now - start).inMilliseconds
    let line = "{\"type\":\"connection\",\"connectMs\":\(milliseconds)}\n"
    FileHandle.standardOutput.write(Data(line.utf8))
    await channel.disconnect()
  } catch {
    fail("\(error)")
  }
}
