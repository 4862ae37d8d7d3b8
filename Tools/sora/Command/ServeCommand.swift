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
      "An address at which media reaches this host; repeatable. All by default.",
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
      "Port of the HTTP API (x-sora-target), on 127.0.0.1 alone; 0 takes a free one. None by default.",
      valueName: "port"))
  var apiPort: Int?

  @Flag(help: "Run a TURN server as well, and give clients credentials for it.")
  var turn = false

  @Option(
    name: .customLong("turn-port"),
    help: ArgumentHelp(
      "Port of the TURN server, for UDP and TCP; 0 takes a free one.", valueName: "port"))
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

  @OptionGroup(title: "Access")
  var access: ServeAccessOptions

  @Flag(help: "Print JSON lines on standard output.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  /// The channel of every example, here, on the page and in the handbook.
  private static let defaultChannel = "sora"

  func run() async throws {
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
    await server.shutdown()
    await watching.value
    try console.checkOutput()
  }

  private func makeConfiguration() throws(UsageError) -> SoraServer.Configuration {
    let port = Int(try Self.port(port, of: "--port"))
    var logger = Logger(label: "sora.server")
    logger.logLevel = verbose ? .debug : .error
    var configuration = SoraServer.Configuration(host: host, port: port, logger: logger)
    if !mediaAddresses.isEmpty {
      var addresses: [IPAddress] = []
      for text in mediaAddresses {
        guard let address = IPAddress(text) else {
          throw UsageError("--media-address \(text): write an IPv4 or IPv6 address of this host")
        }
        let known = ((try? NetworkLoop.hostAddresses(includingLinkLocalV6: true)) ?? []).map(\.ip)
        guard known.isEmpty || known.contains(address) else {
          let names = known.map { "\($0)" }.joined(separator: ", ")
          throw UsageError("--media-address \(text): not of this machine; it has \(names)")
        }
        addresses.append(address)
      }
      configuration.mediaAddresses = addresses
    }
    if turn || turnPort != nil || turnTLSPort != nil {
      configuration.turn = .init(port: try Self.port(turnPort ?? 3478, of: "--turn-port"))
    }
    guard let policy = ICETransportPolicy(rawValue: icePolicy), policy != .noHost else {
      throw UsageError("--ice-policy \(icePolicy): use all or relay")
    }
    guard policy == .all || configuration.turn != nil else {
      throw UsageError("--ice-policy relay: clients need a TURN server for that; add --turn")
    }
    configuration.iceTransportPolicy = policy
    guard record == nil || recordings == nil else {
      throw UsageError(
        "--record and --recordings: everything is recorded, or what the API asks for")
    }
    guard recordings == nil || apiPort != nil else {
      throw UsageError("--recordings: only the HTTP API begins those; add --api-port")
    }
    configuration.recordingFolder = record ?? recordings
    configuration.recordsEverything = record != nil
    configuration.access = try access.access(environment: ProcessInfo.processInfo.environment)
    if let apiPort { configuration.apiPort = Int(try Self.port(apiPort, of: "--api-port")) }
    switch (tlsCertificate, tlsKey) {
    case (nil, nil): break
    case (let certificate?, let key?):
      for file in [certificate, key] where !FileManager.default.isReadableFile(atPath: file) {
        throw UsageError("--tls-cert, --tls-key: cannot read \(file); name PEM files")
      }
      let identity = TLSOptions.Identity(certificateFile: certificate, keyFile: key)
      do {
        _ = try TLSContexts.server(identity)
      } catch {
        let option = error.field == "tls.keyFile" ? "--tls-key \(key)" : "--tls-cert \(certificate)"
        throw UsageError("\(option): \(error.detail); \(error.wayOut)")
      }
      configuration.tls = identity
    default: throw UsageError("--tls-cert and --tls-key go together; give both")
    }
    if let turnTLSPort {
      guard let identity = configuration.tls else {
        throw UsageError("--turn-tls-port: TLS needs a certificate; add --tls-cert and --tls-key")
      }
      configuration.turn?.securePort = try Self.port(turnTLSPort, of: "--turn-tls-port")
      configuration.turn?.tls = identity
    }
    return configuration
  }

  private static func port(_ number: Int, of option: String) throws(UsageError) -> UInt16 {
    guard let port = UInt16(exactly: number) else {
      throw UsageError("\(option) \(number): use 0 to 65535; 0 takes a free port")
    }
    return port
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

/// One line of `sora serve --json`.
private struct ServerLine: Encodable {
  var type: String
  var url: String?
  var httpUrl: String?
  var httpUrls: [String]?
  var port: Int?
  var mediaAddresses: [String]?
  var turnUrls: [String]?
  var apiUrl: String?
  var channelId: String?
  var connectionId: String?
  var role: String?
  var reason: String?

  static func ready(_ server: SoraServer) -> ServerLine {
    ServerLine(
      type: "ready", url: server.url, httpUrl: server.httpURL, httpUrls: server.httpURLs,
      port: server.port,
      mediaAddresses: server.mediaAddresses.map { "\($0)" },
      turnUrls: server.turnURLs.isEmpty ? nil : server.turnURLs, apiUrl: server.apiURL)
  }

  static func text(_ event: SFUEvent) -> String {
    switch event {
    case .joined(let channel, let connection, let role):
      "join   \(channel.printable)  \(connection.printable)  \(role)"
    case .left(let channel, let connection, let role, let reason):
      "leave  \(channel.printable)  \(connection.printable)  \(role)  \(reason.printable)"
    case .refused(_, let reason): "refuse  \(reason.printable)"
    }
  }
}

extension ServerLine {
  init(_ event: SFUEvent) {
    switch event {
    case .joined(let channel, let connection, let role):
      self.init(type: "join", channelId: channel, connectionId: connection, role: "\(role)")
    case .left(let channel, let connection, let role, let reason):
      self.init(
        type: "leave", channelId: channel, connectionId: connection, role: "\(role)",
        reason: reason)
    case .refused(_, let reason): self.init(type: "refuse", reason: reason)
    }
  }
}
