import ArgumentParser
import Foundation
import SoraCodecs
import SoraCommandSupport
import SoraSDK
import SoraSignaling
import WebRTC

/// Options that `publish` and `play` share.
struct ConnectionOptions: ParsableArguments {
  @Argument(help: "Where to signal, such as ws://127.0.0.1:5000/signaling.")
  var url: String

  @Option(help: ArgumentHelp("The channel to join.", valueName: "id"))
  var channel: String

  @Option(
    name: .customLong("video-codec"),
    help: ArgumentHelp("The video codec to ask the server for.", valueName: "codec"))
  var videoCodec: String?

  @Option(help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "Write pictures to FILE.y4m or sound to FILE.wav; give it twice for both.", valueName: "file")
  )
  var record: [String] = []

  @Option(help: ArgumentHelp("Write one picture to FILE.png.", valueName: "file"))
  var snapshot: String?

  @Option(help: ArgumentHelp("JSON for the server's authentication.", valueName: "json"))
  var metadata: String?

  @Flag(help: "Accept any certificate of a wss server.")
  var insecure = false

  @Option(
    help: ArgumentHelp("PEM certificates to trust instead of the system's.", valueName: "file"))
  var ca: String?

  @Flag(help: "Print JSON lines on standard output: statistics each second, and a summary.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  /// The configuration that the options describe.
  func makeConfiguration(role: Role) throws(UsageError) -> SoraSDK.Configuration {
    guard let address = URL(string: url), let scheme = address.scheme?.lowercased(),
      ["ws", "wss"].contains(scheme), address.host?.isEmpty == false
    else {
      throw UsageError("URL \(url): write ws://HOST:PORT/signaling, or wss:// for TLS")
    }
    guard (1...255).contains(channel.utf8.count) else {
      throw UsageError("--channel: use 1 to 255 bytes, not \(channel.utf8.count)")
    }
    if let duration {
      guard duration > 0, duration <= 1e7 else {
        throw UsageError("--duration \(duration): use a number of seconds above 0")
      }
    }
    var configuration = SoraSDK.Configuration(url: address, channelId: channel, role: role)
    configuration.videoCodec = try chosenCodec(role)
    if let metadata {
      do {
        configuration.signalingConnectMetadata = try JSONValue(parsing: metadata)
      } catch {
        throw UsageError("--metadata: not JSON: \(error)")
      }
    }
    if let ca {
      guard FileManager.default.isReadableFile(atPath: ca) else {
        throw UsageError("--ca \(ca): cannot read the file; name one with PEM certificates")
      }
      if insecure { throw UsageError("--ca and --insecure exclude each other; leave one out") }
    }
    configuration.tls = TLSSettings(caFile: ca, isInsecure: insecure)
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

  private static func codec(_ kind: VideoCodecKind) -> SoraSDK.VideoCodec? {
    SoraSDK.VideoCodec(rawValue: kind.encodingName.uppercased())
  }

  /// Sends the SDK's log to standard error where it is wanted: standard output is for data.
  func setUpLog(_ console: Console) {
    Logger.shared.printsToStandardError = false
    guard verbose else { return }
    Logger.shared.level = .debug
    Logger.shared.onOutputHandler = { console.note("\($0)") }
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
