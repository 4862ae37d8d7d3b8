import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK
import SoraSignaling

/// `sora doctor`: looks at this machine, and at the way to a server, and says what to mend.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check this machine, and the way to a server, and say what to mend.",
    discussion: """
      Without a URL: time, network, UDP, ports, certificates, codecs, cameras and sound of this machine. With one, \
      also the server: its name, TCP, TLS and its certificate, WebSocket, an offer, and a short call in which a tone \
      has to come back. Exit status: 0 where nothing failed, else 1.
      """)

  @Argument(
    help: "The server's signaling, such as ws://127.0.0.1:5000/signaling.",
    completion: .list(["ws://127.0.0.1:5000/signaling"]))
  var url: String?

  @Option(
    help: ArgumentHelp(
      "The channel to call in; by default one that nobody else is in.", valueName: "id"))
  var channel: String?

  @Option(help: ArgumentHelp("JSON for the server's authentication.", valueName: "json"))
  var metadata: String?

  @Flag(help: "Accept any certificate of a wss server.")
  var insecure = false

  @Option(
    help: ArgumentHelp("PEM certificates to trust instead of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var ca: String?

  @Flag(help: "Print JSON lines: one a check, and a summary.")
  var json = false

  func run() async throws {
    let address = try url.map { try ConnectionOptions.signalingURL($0) }
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
      let options = try connectionOptions(address)
      var settings = try options.makeConfiguration(role: .recvonly)
      settings.connectionTimeout = 10
      settings.videoEnabled = false
      options.setUpLog(console)
      SoraSDK.Logger.shared.level = .fatal
      await MachineChecks.run(serving: isHere ? address.port : nil, tell)
      let server = ServerChecks(
        url: address,
        tls: TLSOptions(trust: ca.map { .file($0) } ?? .system, insecure: insecure),
        channel: options.channel, metadata: try? metadata.map { try JSONValue(parsing: $0) })
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

  /// The same checks of arguments as for a call.
  private func connectionOptions(_ address: URL) throws -> ConnectionOptions {
    var arguments = [
      address.absoluteString, "--channel", channel ?? "sora-doctor-\(UUID().uuidString)",
    ]
    if let metadata { arguments.append("--metadata=\(metadata)") }
    if let ca { arguments.append("--ca=\(ca)") }
    if insecure { arguments.append("--insecure") }
    return try ConnectionOptions.parse(arguments)
  }
}
