import ArgumentParser
import Foundation
import SoraCodecs
import SoraCommandSupport
import SoraSDK
import WebRTC

/// Options that `publish` and `play` share.
struct ConnectionOptions: ParsableArguments {
  @Argument(
    help: "Where to signal, such as ws://127.0.0.1:5000/signaling.",
    completion: .list(["ws://127.0.0.1:5000/signaling"]))
  var url: String

  @Option(help: ArgumentHelp("The channel to join.", valueName: "id"), completion: .list(["sora"]))
  var channel: String

  @Option(
    name: .customLong("video-codec"),
    help: ArgumentHelp("The video codec to ask the server for.", valueName: "codec"),
    completion: .list(["vp8", "vp9", "av1", "h264", "h265"]))
  var videoCodec: String?

  @Option(help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "Write pictures to FILE.y4m or sound to FILE.wav, or (play) the stream as it comes to FILE.webm, .mp4 or .mkv; give it again for another.",
      valueName: "file"),
    completion: .file(extensions: ["webm", "mp4", "mkv", "y4m", "wav"]))
  var record: [String] = []

  @Option(
    help: ArgumentHelp("Write one picture to FILE.png.", valueName: "file"),
    completion: .file(extensions: ["png"]))
  var snapshot: String?

  @OptionGroup
  var access: ServerAccessOptions

  @Flag(help: "Print JSON lines on standard output: statistics each second, and a summary.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  /// The configuration that the options describe.
  func makeConfiguration(role: Role) throws(UsageError) -> SoraSDK.Configuration {
    let address = try ServerAccessOptions.signalingURL(url)
    let channel = try ServerAccessOptions.channel(channel)
    if let duration {
      guard duration > 0, duration <= 1e7 else {
        throw UsageError(
          "--duration \(duration): use a number of seconds above 0 and up to 10000000; leave it out to run until interrupted"
        )
      }
    }
    var configuration = SoraSDK.Configuration(url: address, channelId: channel, role: role)
    configuration.videoCodec = try chosenCodec(role)
    // Frames are the command's own.
    configuration.cameraSettings.isEnabled = false
    try access.apply(to: &configuration)
    return configuration
  }

  private func chosenCodec(_ role: Role) throws(UsageError) -> SoraSDK.VideoCodec {
    let registry = RTCPeerConnectionFactory().videoCodecs
    let kinds = role == .recvonly ? registry.decodableKinds : registry.encodableKinds
    guard let text = videoCodec else {
      // Of the server's default, VP9, this build may have neither side; a receiver takes what comes.
      return role == .recvonly ? .default : kinds.first.flatMap(Self.codec) ?? .default
    }
    guard let kind = kinds.first(where: { $0.encodingName.lowercased() == text.lowercased() }),
      let codec = Self.codec(kind)
    else {
      let names = kinds.map { $0.encodingName.lowercased() }.joined(separator: ", ")
      throw UsageError("--video-codec \(text): available in this build: \(names)")
    }
    return codec
  }

  static func codec(_ kind: VideoCodecKind) -> SoraSDK.VideoCodec? {
    SoraSDK.VideoCodec(rawValue: kind.encodingName.uppercased())
  }

  /// Sends the SDK's log to standard error where it is wanted: standard output is for data.
  func setUpLog(_ console: Console) {
    Logger.shared.printsToStandardError = false
    guard verbose else { return }
    Logger.shared.level = .debug
    Logger.shared.onOutputHandler = { console.note("\($0)".printable) }
  }
}

/// A bit rate in kbit/s within Sora's limits.
func checked(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws(UsageError) -> Int?
{
  guard let value else { return nil }
  guard range.contains(value) else {
    throw UsageError(
      "\(option) \(value): use \(range.lowerBound) to \(range.upperBound) kbit/s")
  }
  return value
}
