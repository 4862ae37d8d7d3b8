import Foundation
import SignalingTestSupport
import SoraDTLS
import SoraICE
import SoraMedia
import SoraSignaling
import SoraTURNStream
import SoraTransport
import Testing

/// coturn as the server: what another implementation makes of our requests.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: Coturn.isInstalled, "coturn is missing: run `make deps`"))
struct CoturnTests {
  @Test func datagramsOverUDP() async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    let probe = try await Probe(Coturn.server("turn:127.0.0.1:\(coturn.port)"))
    await probe.wait { $0.relay != nil }
    await probe.exchange()
    #expect(await probe.run { $0.failures }.isEmpty)
    await probe.close()
  }

  @Test func datagramsOverUDPAndIPv6() async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    let probe = try await Probe(Coturn.server("turn:[::1]:\(coturn.port)"), on: .loopbackV6)
    await probe.wait { $0.relay != nil }
    #expect(await probe.run { $0.relay }?.ip.isV6 == true)
    await probe.exchange()
    await probe.close()
  }

  @Test func datagramsOverTCP() async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    let probe = try await Probe(
      Coturn.server("turn:127.0.0.1:\(coturn.port)?transport=tcp"),
      connector: TURNStreamConnector())
    await probe.wait { $0.relay != nil }
    await probe.exchange()
    await probe.close()
  }

  enum Trust: CaseIterable { case file, pin, insecureServer }

  @Test(arguments: Trust.allCases)
  func datagramsOverTLS(trust: Trust) async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    var configuration = TURNStreamConnector.Configuration()
    var server = Coturn.server("turns:127.0.0.1:\(coturn.securePort)")
    switch trust {
    case .file: configuration.tls = TLSOptions(trust: .file(coturn.certificateFile))
    case .pin: configuration.pinnedCertificate = try coturn.certificateHash()
    case .insecureServer: server.verifiesCertificate = false
    }
    let probe = try await Probe(
      server, connector: TURNStreamConnector(configuration: configuration))
    await probe.wait { $0.relay != nil }
    await probe.exchange()
    await probe.close()
  }

  @Test(arguments: [true, false])
  func aCertificateThatIsNotTrustedIsRefused(pins: Bool) async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    var configuration = TURNStreamConnector.Configuration()
    if pins { configuration.pinnedCertificate = [UInt8](repeating: 7, count: 32) }
    let probe = try await Probe(
      Coturn.server("turns:127.0.0.1:\(coturn.securePort)"),
      connector: TURNStreamConnector(configuration: configuration))
    await probe.wait { $0.isComplete }
    #expect(await probe.run { $0.relay } == nil)
    let failures = await probe.run { $0.failures }
    #expect("\(failures)".contains("certificate") || "\(failures)".contains("TLS"), "\(failures)")
    await probe.close()
  }

  @Test func wrongCredentialsAreSaidToBeSo() async throws {
    let coturn = try await Coturn()
    defer { coturn.stop() }
    var server = Coturn.server("turn:127.0.0.1:\(coturn.port)")
    server.credentials = LongTermCredentials(username: "user", password: "guess")
    let probe = try await Probe(server)
    await probe.wait { $0.isComplete }
    #expect(
      await probe.run { $0.failures }
        == [ICEServerFailure(url: server.url, error: .wrongCredentials)])
    await probe.close()
  }

  @Test func aPortWithoutAServerIsNamed() async throws {
    let port = try await Coturn.freePort()
    let server = Coturn.server("turn:127.0.0.1:\(port)?transport=tcp")
    let probe = try await Probe(server, connector: TURNStreamConnector())
    await probe.wait { $0.isComplete }
    #expect(await probe.run { $0.failures.map(\.url) } == [server.url])
    await probe.close()
  }
}

/// A `turnserver` on free ports of the loopback, and the files it needs.
final class Coturn: Sendable {
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/turnserver")

  let port: UInt16
  let securePort: UInt16
  let certificateFile: String
  private let folder: URL
  private let process: Process

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "coturn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    certificateFile = folder.appendingPathComponent("c.pem").path
    let key = folder.appendingPathComponent("k.pem").path
    try await runToEnd(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
        key, "-out", certificateFile, "-days", "30", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
      ])
    let log = folder.appendingPathComponent("log")
    // A port that was free a moment ago may be another's by now: coturn then tries to bind it without end.
    var attempts = 0
    while true {
      attempts += 1
      let (port, securePort) = (try await Self.freePort(), try await Self.freePort())
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/turnserver")
      process.arguments = [
        "-n", "--no-cli", "-L", "127.0.0.1", "-L", "::1", "-E", "127.0.0.1", "-E", "::1", "-p",
        "\(port)", "--tls-listening-port", "\(securePort)", "--cert", certificateFile, "--pkey",
        key,
        "--lt-cred-mech", "-u", "user:pass", "-r", "sora.test", "--allow-loopback-peers",
        "--no-multicast-peers", "--fingerprint", "--no-dtls", "--no-rfc5780", "--pidfile",
        folder.appendingPathComponent("pid").path, "--log-file", "stdout", "--simple-log",
      ]
      try Data().write(to: log)
      let output = try FileHandle(forWritingTo: log)
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let outcome = try await Self.outcome(of: process, log: log)
      if outcome == .listens {
        (self.port, self.securePort, self.process) = (port, securePort, process)
        return
      }
      kill(process.processIdentifier, SIGKILL)
      if outcome == .portIsTaken, attempts < 5 { continue }
      throw Failed(outcome: outcome, log: (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }
  }

  private enum Outcome { case listens, portIsTaken, ended, takesTooLong }

  private struct Failed: Error {
    let outcome: Outcome
    let log: String
  }

  func stop() {
    // It doesn't end by SIGTERM where it inherited that signal blocked.
    kill(process.processIdentifier, SIGKILL)
    try? FileManager.default.removeItem(at: folder)
  }

  static func server(_ url: String) -> ICEServer {
    ICEServer(
      url: ICEServerURL(url)!, credentials: LongTermCredentials(username: "user", password: "pass"))
  }

  /// The SHA-256 of its certificate.
  func certificateHash() throws -> [UInt8] {
    let text = try String(contentsOfFile: certificateFile, encoding: .utf8)
    let body = text.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let data = try #require(Data(base64Encoded: body))
    return try DTLSFingerprint(of: Array(data)).bytes
  }

  /// Waits until its sockets are open. Some may be while it still tries to bind others.
  private static func outcome(of process: Process, log: URL) async throws -> Outcome {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let text = try String(contentsOf: log, encoding: .utf8)
      if text.contains("Address already in use") { return .portIsTaken }
      // What it starts last.
      if text.contains("admin thread") { return .listens }
      guard process.isRunning else { return .ended }
      try await Task.sleep(for: .milliseconds(20))
    }
    return .takesTooLong
  }

  static func freePort() async throws -> UInt16 {
    let loop = try NetworkLoop.make()
    defer { loop.shutdown() }
    return try await loop.run {
      Result {
        let socket = try loop.openUDP(
          TransportAddress(ip: .loopbackV4, port: 0), handler: Nobody())
        defer { socket.close() }
        return socket.localAddress.port
      }
    }.get()
  }

  private final class Nobody: DatagramHandler {
    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {}
  }
}
