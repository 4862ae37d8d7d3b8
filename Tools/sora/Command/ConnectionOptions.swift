import ArgumentParser
import Foundation
import SoraCodecs
import SoraCommandSupport
import SoraSDK
import SoraSignaling
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
      "Write pictures to FILE.y4m or sound to FILE.wav; give it twice for both.", valueName: "file"),
    completion: .file(extensions: ["y4m", "wav"]))
  var record: [String] = []

  @Option(
    help: ArgumentHelp("Write one picture to FILE.png.", valueName: "file"),
    completion: .file(extensions: ["png"]))
  var snapshot: String?

  @Option(help: ArgumentHelp("JSON for the server's authentication.", valueName: "json"))
  var metadata: String?

  @Flag(help: "Accept any certificate of a wss server.")
  var insecure = false

  @Option(
    help: ArgumentHelp("PEM certificates to trust instead of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var ca: String?

  @Flag(help: "Print JSON lines on standard output: statistics each second, and a summary.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  /// The configuration that the options describe.
  func makeConfiguration(role: Role) throws(UsageError) -> SoraSDK.Configuration {
    let address = try Self.signalingURL(url)
    guard (1...255).contains(channel.utf8.count) else {
      throw UsageError("--channel: use 1 to 255 bytes, not \(channel.utf8.count)")
    }
    if let duration {
      guard duration > 0, duration <= 1e7 else {
        throw UsageError(
          "--duration \(duration): use a number of seconds above 0 and up to 10000000; leave it out to run until interrupted"
        )
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
      do {
        _ = try TLSContexts.client(TLSOptions(trust: .file(ca)))
      } catch {
        throw UsageError("--ca \(ca): \(error.detail); name a file with PEM certificates")
      }
    }
    configuration.tls = TLSSettings(caFile: ca, isInsecure: insecure)
    return configuration
  }

  /// Reads a URL of signaling.
  static func signalingURL(_ text: String) throws(UsageError) -> URL {
    guard let address = URL(string: text), let scheme = address.scheme?.lowercased(),
      ["ws", "wss"].contains(scheme), address.host?.isEmpty == false
    else {
      throw UsageError("URL \(text): write ws://HOST:PORT/signaling, or wss:// for TLS")
    }
    return address
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
