import ArgumentParser
import Foundation
import SoraCommandSupport
@_spi(Command) import SoraSDK
import SoraSignaling

/// `sora doctor`: looks at this machine, and at the way to a server, and says what to mend.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check this machine, and the way to a server, and say what to mend.",
    discussion: """
      Without a URL: time, network, UDP, ports, certificates, codecs, cameras and sound of this machine. With one, \
      also the server: its name, TCP (or the proxy), TLS and its certificate, WebSocket, an offer, and a short call in \
      which a tone has to come back. Exit status: 0 where nothing failed, else 1.
      """)

  @Argument(
    help: "The server's signaling, such as ws://127.0.0.1:5000/signaling.",
    completion: .list(["ws://127.0.0.1:5000/signaling"]))
  var url: String?

  @Option(
    help: ArgumentHelp(
      "The channel to call in; by default one that nobody else is in.", valueName: "id"))
  var channel: String?

  @OptionGroup
  var access: ServerAccessOptions

  @Flag(help: "Print JSON lines: one a check, and a summary.")
  var json = false

  func run() async throws {
    let address = try url.map { try ServerAccessOptions.signalingURL($0) }
    if address == nil, let option = channel == nil ? access.givenOption : "--channel" {
      throw UsageError("\(option): that is for a server; name its URL")
    }
    let console = Console(isJSON: json)
    let isColored = !json && isatty(STDOUT_FILENO) == 1
    var counts = FindingCounts()
    let tell = { (finding: Finding) in
      counts.add(finding)
      for line in json ? [finding.jsonLine] : finding.lines(isColored: isColored) {
        console.output(line)
      }
    }
    let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(address?.host ?? "")
    if let address {
      var settings = SoraSDK.Configuration(
        url: address,
        channelId: try ServerAccessOptions.channel(
          channel ?? "sora-doctor-\(UUID().uuidString)"),
        role: .recvonly)
      try access.apply(to: &settings)
      settings.connectionTimeout = 10
      settings.videoEnabled = false
      SoraSDK.Logger.shared.printsToStandardError = false
      SoraSDK.Logger.shared.level = .fatal
      await MachineChecks.run(serving: isHere ? address.port : nil, tell)
      let server = ServerChecks(
        url: address, tls: access.tls, acceptsKey: settings.tls.acceptsSignalingKey,
        proxy: settings.proxy.map { ProxyOptions($0) }, channel: settings.channelId,
        metadata: try access.parsedMetadata())
      if await server.run(tell) {
        let call = CallCheck(
          configuration: { [settings] role in
            var settings = settings
            settings.role = role
            settings.mediaChannelHandlers = MediaChannelHandlers()
            return settings
          }, interruption: Interruption())
        await call.run(tell)
      }
    } else {
      await MachineChecks.run(serving: nil, tell)
    }
    console.output(json ? counts.jsonLine : "\n\(counts.line)")
    try console.checkOutput()
    if counts.fail > 0 { throw ExitCode(1) }
  }
}
