import ArgumentParser
import Foundation
import Logging
import SoraCommandSupport
import SoraICE
import SoraServer
import SoraSignaling

/// `sora serve`: a development server with signaling, media and a web page.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a Sora-compatible development server, with a page for browsers.",
    discussion: "Runs until interrupted. --json prints one line when it is ready, and one an event."
  )

  @Option(help: ArgumentHelp("Address for signaling and the page.", valueName: "address"))
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
    help: ArgumentHelp("PEM certificate chain; serves wss and https.", valueName: "file"))
  var tlsCertificate: String?

  @Option(
    name: .customLong("tls-key"),
    help: ArgumentHelp("PEM key of the certificate.", valueName: "file"))
  var tlsKey: String?

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
      "all, or relay: clients then send everything through a TURN server.", valueName: "policy"))
  var icePolicy = "all"

  @Flag(help: "Print JSON lines on standard output.")
  var json = false

  @Flag(help: "Log what happens on standard error.")
  var verbose = false

  func run() async throws {
    let configuration = try makeConfiguration()
    let console = Console(isJSON: json)
    let interruption = Interruption()
    let server: SoraServer
    do {
      server = try await SoraServer.start(configuration)
    } catch {
      throw JobError("serve: cannot start on \(host) port \(port): \(ErrorText.line(error))")
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
    switch (tlsCertificate, tlsKey) {
    case (nil, nil): break
    case (let certificate?, let key?):
      for file in [certificate, key] where !FileManager.default.isReadableFile(atPath: file) {
        throw UsageError("--tls-cert, --tls-key: cannot read \(file); name PEM files")
      }
      configuration.tls = TLSOptions.Identity(certificateFile: certificate, keyFile: key)
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
    console.output(
      """
      ready  \(server.url)
        open in a browser  \(server.httpURL)
        publish            sora publish \(server.url) --channel demo
        play               sora play \(server.url) --channel demo
      """
        + server.turnURLs.map { "\n  relay                \($0)" }.joined())
  }
}

/// One line of `sora serve --json`.
private struct ServerLine: Encodable {
  var type: String
  var url: String?
  var httpUrl: String?
  var port: Int?
  var mediaAddresses: [String]?
  var turnUrls: [String]?
  var channelId: String?
  var connectionId: String?
  var role: String?
  var reason: String?

  static func ready(_ server: SoraServer) -> ServerLine {
    ServerLine(
      type: "ready", url: server.url, httpUrl: server.httpURL, port: server.port,
      mediaAddresses: server.mediaAddresses.map { "\($0)" },
      turnUrls: server.turnURLs.isEmpty ? nil : server.turnURLs)
  }

  static func text(_ event: SFUEvent) -> String {
    switch event {
    case .joined(let channel, let connection, let role):
      "join   \(channel)  \(connection)  \(role)"
    case .left(let channel, let connection, let role, let reason):
      "leave  \(channel)  \(connection)  \(role)  \(reason)"
    case .refused(_, let reason): "refuse  \(reason)"
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
