import ArgumentParser
import Foundation
import SoraCodecs
import SoraCommandSupport
import SoraSDK
import WebRTC

/// Options that `publish` and `play` share.
struct ConnectionOptions: ParsableArguments {
  @OptionGroup
  var call: ChannelOptions

  @OptionGroup
  var wishes: ChannelWishes

  @Flag(help: "Connect anew, again and again, where the connection is lost after it stood.")
  var reconnect = false

  @Option(
    name: .customLong("video-codec"),
    help: ArgumentHelp(
      "The video codec to ask the server for: vp8, vp9, av1, h264 or h265, as this build has them (sora codecs).",
      valueName: "codec"),
    completion: .list(["vp8", "vp9", "av1", "h264", "h265"]))
  var videoCodec: String?

  @Option(
    name: .customLong("audio-codec"),
    help: ArgumentHelp(
      "The audio codec to ask the server for: opus, or pcmu (G.711, 8 kHz).", valueName: "codec"),
    completion: .list(["opus", "pcmu"]))
  var audioCodec: String?

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

  var channel: String { call.channel }
  var duration: Double? { call.duration }
  var json: Bool { call.json }
  var verbose: Bool { call.verbose }

  /// How a lost connection is made anew; nil where it isn't.
  var reconnection: ReconnectionPolicy? { reconnect ? ReconnectionPolicy() : nil }

  /// The configuration that the options describe.
  ///
  /// - Parameter role: the command's own, which `--role` widens.
  func makeConfiguration(role: Role) throws(UsageError) -> SoraSDK.Configuration {
    let role = try wishes.role(usual: role)
    var configuration = try call.makeConfiguration(role: role)
    configuration.videoCodec = try chosenCodec(role)
    if let audioCodec {
      guard let codec = SoraSDK.AudioCodec(rawValue: audioCodec.uppercased()) else {
        throw UsageError("--audio-codec \(audioCodec): use opus or pcmu")
      }
      configuration.audioCodec = codec
    }
    try wishes.apply(to: &configuration)
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

  func setUpLog(_ console: Console) { call.setUpLog(console) }
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
