import ArgumentParser
import Foundation
import Logging
import SoraCommandSupport
import SoraICE
import SoraRecording
import SoraServer
import SoraSignaling
import SoraTransport

/// `sora serve`: a development server with signaling, media and a web page.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a Sora-compatible development server, with a page for browsers.",
    discussion: """
      Runs until interrupted. --json prints one line when it is ready, and one an event.

      The page takes its channel, and what to do there, from its address: /?channel=ID, and with it \
      role=sendonly, recvonly or sendrecv to connect at once, codec=VP8 (VP9, AV1, H264, H265), \
      video=0 and audio=0. Browsers give camera and microphone only on localhost or https.
      """)

  @Option(
    help: ArgumentHelp(
      "Address for signaling and the page; 0.0.0.0 for all of this machine.", valueName: "address"),
    completion: .list(["127.0.0.1", "0.0.0.0", "::1", "::"]))
  var host = "127.0.0.1"

  @Option(
    help: ArgumentHelp("Port for signaling and the page; 0 takes a free one.", valueName: "port"))
  var port = 5000

  @Option(
    name: .customLong("media-address"),
    help: ArgumentHelp(
      "An address of this host at which media reaches it; repeatable. All of its addresses by default.",
      valueName: "address"))
  var mediaAddresses: [String] = []

  @Option(
    name: .customLong("tls-cert"),
    help: ArgumentHelp("PEM certificate chain; serves wss and https.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var tlsCertificate: String?

  @Option(
    name: .customLong("tls-key"),
    help: ArgumentHelp("PEM key of the certificate.", valueName: "file"),
    completion: .file(extensions: ["pem", "key"]))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Record what is published in this folder, as it comes: a file for each connection (.webm, or .mp4 for H.264 and H.265), and a JSON for each session.",
      valueName: "folder"),
    completion: .directory)
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Folder for the recordings that the HTTP API's StartRecording begins; see --api-port.",
      valueName: "folder"),
    completion: .directory)
  var recordings: String?

  @Option(
    name: .customLong("api-port"),
    help: ArgumentHelp(
      "Port of the HTTP API (x-sora-target), on --api-host; 0 takes a free one. None by default.",
      valueName: "port"))
  var apiPort: Int?

  @Option(
    name: .customLong("api-host"),
    help: ArgumentHelp(
      "Address of the HTTP API. Nobody is asked for a password there: one that only servers of the cluster reach, or this machine.",
      valueName: "address"))
  var apiHost = Self.defaultAPIHost

  /// Of a server whose API is this machine's alone.
  static let defaultAPIHost = "127.0.0.1"

  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast,
    help:
      "Run a TURN server as well, and give clients credentials for it; --turn-port and --turn-tls-port do so, too. --no-turn: none all the same."
  )
  var turn: Bool?

  @Option(
    name: .customLong("turn-port"),
    help: ArgumentHelp(
      "Port of the TURN server, for UDP and TCP; 0 takes a free one. 3478 by default.",
      valueName: "port"))
  var turnPort: Int?

  @Option(
    name: .customLong("turn-tls-port"),
    help: ArgumentHelp(
      "Port of the TURN server for TLS, with the certificate of --tls-cert; clients are told the name or address by which they came. 0 takes a free one.",
      valueName: "port"))
  var turnTLSPort: Int?

  @Option(
    name: .customLong("ice-policy"),
    help: ArgumentHelp(
      "all, or relay: clients then send everything through a TURN server.", valueName: "policy"),
    completion: .list(["all", "relay"]))
  var icePolicy = "all"

  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast,
    help:
      "Offer feedback by source with ECN marks (RFC 8888) as well, which Sora doesn't: queues on the way may then mark packets in place of dropping them."
  )
  var ecn = false

  @OptionGroup(title: "Access")
  var access: ServeAccessOptions

  @OptionGroup(title: "Spotlight")
  var spotlight: ServeSpotlightOptions

  @OptionGroup(title: "Cluster")
  var cluster: ServeClusterOptions

  @OptionGroup(title: "Operation")
  var operation: ServeOperationOptions

  @OptionGroup(title: "Settings")
  var settings: ServeSettingsOptions

  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast, help: "Print JSON lines on standard output.")
  var json = false

  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast,
    help: "Log what happens on standard error; the same as --log-level debug.")
  var verbose = false

  /// The channel of every example, here, on the page and in the handbook.
  private static let defaultChannel = "sora"

  func run() async throws {
    if settings.printConfig {
      let console = Console(isJSON: false)
      console.output(try Self.settingsTable().text(title: "Settings of `sora serve`."))
      return try console.checkOutput()
    }
    guard let file = settings.config else {
      if settings.checkConfig { throw UsageError("--check-config: name the file with --config") }
      return try await serve()
    }
    let merged = try with(settingsIn: file)
    guard settings.checkConfig else { return try await merged.serve() }
    let console = Console(isJSON: false)
    console.output("\(file): nothing is wrong with it")
    try console.checkOutput()
  }

  private func serve() async throws {
    let configuration = try makeConfiguration()
    let console = Console(isJSON: json)
    let interruption = Interruption()
    let server: SoraServer
    do {
      server = try await SoraServer.start(configuration)
    } catch let error as MediaFileError {
      throw UsageError("\(record == nil ? "--recordings" : "--record"): \(error)")
    } catch {
      throw JobError("serve: \(ErrorText.line(error))")
    }
    // Whoever reads its lines, and goes, wants no server any more.
    console.onOutputFailure { interruption.request() }
    // A service is told to read its files anew; of a server in a terminal, the terminal has gone.
    if configuration.tls != nil || settings.config != nil {
      interruption.onHangUp { Task { await Self.reload(server) } }
    }
    announce(server, console)
    let requests = AsyncStream<Void> { continuation in
      interruption.onRequest { continuation.finish() }
    }
    let isJSON = json
    let watching = Task {
      for await event in server.events {
        console.output(isJSON ? ServerLine(event).jsonLine : ServerLine.text(event))
      }
    }
    for await _ in requests {}
    if interruption.isTermination { await server.drain() }
    await server.shutdown()
    await watching.value
    try console.checkOutput()
  }

  private static func reload(_ server: SoraServer) async {
    let logger = server.configuration.logger
    guard server.configuration.tls != nil else {
      return logger.notice("there is no certificate to read again")
    }
    do throws(SignalingError) {
      try await server.reloadTLS()
      logger.notice("the certificate was read again")
    } catch {
      logger.error(
        "the certificate stays as it was", metadata: ["reason": "\(ErrorText.line(error))"])
    }
  }

  private func announce(_ server: SoraServer, _ console: Console) {
    guard !json else {
      console.output(ServerLine.ready(server).jsonLine)
      return
    }
    let channel = Self.defaultChannel
    var rows = [
      ("open in a browser", "\(server.httpURL)?channel=\(channel)"),
      ("publish", "sora publish \(server.url) --channel \(channel)"),
      ("play", "sora play \(server.url) --channel \(channel)"),
    ]
    rows += server.turnURLs.map { ("relay", $0) }
    if let url = server.apiURL { rows.append(("HTTP API", url)) }
    let elsewhere = server.httpURLs.dropFirst().map { "\($0)?channel=\(channel)" }
    rows += zip(["in this network"] + elsewhere.dropFirst().map { _ in "" }, elsewhere)
    console.output("ready  \(server.url)")
    for (name, value) in rows {
      console.output("  " + name.padding(toLength: 19, withPad: " ", startingAt: 0) + value)
    }
    guard server.configuration.tls == nil, !server.isLocal else { return }
    console.output(
      """
        Browsers give camera and microphone only on localhost or https: from other machines they can
        watch; to publish from there as well, add --tls-cert and --tls-key.
      """)
  }
}
