import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK

/// Options of every command that joins a channel.
struct ChannelOptions: ParsableArguments {
  @Argument(
    help: "Where to signal, such as ws://127.0.0.1:5000/signaling.",
    completion: .list(["ws://127.0.0.1:5000/signaling"]))
  var url: String

  @Option(
    name: .customLong("or-url"),
    help: ArgumentHelp(
      "Another signaling URL of the same cluster; repeatable. All are tried at once, and the first that answers is taken.",
      valueName: "url"))
  var otherURLs: [String] = []

  @Option(help: ArgumentHelp("The channel to join.", valueName: "id"), completion: .list(["sora"]))
  var channel: String

  @Option(help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
  var duration: Double?

  @Flag(
    inversion: .prefixedNo,
    help: "Whether to signal over data channels; the server decides by default.")
  var dataChannelSignaling: Bool?

  @Flag(
    inversion: .prefixedNo,
    help: "Whether to go on without the WebSocket once signaling is over data channels.")
  var ignoreDisconnectWebsocket: Bool?

  @OptionGroup
  var access: ServerAccessOptions

  @Flag(help: "Print JSON lines on standard output.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  /// The configuration that the options describe, with nothing that is captured.
  func makeConfiguration(role: Role) throws(UsageError) -> SoraSDK.Configuration {
    var addresses = [try ServerAccessOptions.signalingURL(url)]
    for other in otherURLs {
      do throws(UsageError) {
        addresses.append(try ServerAccessOptions.signalingURL(other))
      } catch {
        throw UsageError("--or-url: \(error)")
      }
    }
    let channel = try ServerAccessOptions.channel(channel)
    if let duration {
      guard duration > 0, duration <= 1e7 else {
        throw UsageError(
          "--duration \(duration): use a number of seconds above 0 and up to 10000000; leave it out to run until interrupted"
        )
      }
    }
    if ignoreDisconnectWebsocket == true, dataChannelSignaling == false {
      throw UsageError(
        "--ignore-disconnect-websocket needs data channels; leave out --no-data-channel-signaling")
    }
    var configuration = SoraSDK.Configuration(
      urlCandidates: addresses, channelId: channel, role: role)
    configuration.dataChannelSignaling =
      ignoreDisconnectWebsocket == true ? true : dataChannelSignaling
    configuration.ignoreDisconnectWebSocket = ignoreDisconnectWebsocket
    // Frames are the command's own.
    configuration.cameraSettings.isEnabled = false
    try access.apply(to: &configuration)
    return configuration
  }

  /// Sends the SDK's log to standard error where it is wanted: standard output is for data.
  func setUpLog(_ console: Console) {
    Logger.shared.printsToStandardError = false
    guard verbose else { return }
    Logger.shared.level = .debug
    Logger.shared.onOutputHandler = { console.note("\($0)".printable) }
  }
}
