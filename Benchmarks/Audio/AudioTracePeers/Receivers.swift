import Foundation
import SoraClock
import SoraMedia
import SoraSDK
import Synchronization

/// What one track gave, with the time at which each block came.
final class HeardSpeech: AudioSink {
  private struct Heard: Sendable {
    var samples: [Int16] = []
    /// Of each block: samples before it, and when it came.
    var blocks: [(Int, Int64)] = []
  }

  private let heard = Mutex(Heard())

  func receive(_ frame: AudioFrame) {
    let now = SystemClock.now.nanoseconds
    heard.withLock { heard in
      heard.blocks.append((heard.samples.count, now))
      for index in stride(from: 0, to: frame.samples.count, by: frame.channels) {
        heard.samples.append(frame.samples[index])
      }
    }
  }

  /// `NAME.raw` has the samples, `NAME.times` a line for each block.
  func write(_ name: String, in folder: String) throws {
    let heard = heard.withLock { $0 }
    var bytes = Data(capacity: heard.samples.count * 2)
    for sample in heard.samples {
      bytes.append(UInt8(truncatingIfNeeded: sample))
      bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
    }
    let base = URL(fileURLWithPath: folder)
    try bytes.write(to: base.appendingPathComponent("\(name).raw"))
    let times = heard.blocks.map { "\($0.0) \($0.1)\n" }.joined()
    try Data(times.utf8).write(to: base.appendingPathComponent("\(name).times"))
  }
}

/// Our SDK as a client of several channels.
struct Receivers {
  var url: String
  var folder: String
  var channels: [String]

  func run() async throws {
    guard let url = URL(string: url) else { fail("\(url) is no URL") }
    Logger.shared.printsToStandardError = false
    var heard: [(String, HeardSpeech)] = []
    for channel in channels {
      let sink = HeardSpeech()
      var configuration = Configuration(url: url, channelId: channel, role: .recvonly)
      configuration.videoEnabled = false
      configuration.mediaChannelHandlers.onAddStream = { $0.addAudioSink(sink) }
      let media = try await Sora.shared.connect(configuration: configuration)
      heard.append((channel, sink))
      _ = media
    }
    say("ready")
    while await nextLine() != nil {}
    for (channel, sink) in heard { try sink.write(channel, in: folder) }
    exit(0)
  }
}
