import Foundation
import SignalingTestSupport
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// The server's own TURN server, with coturn's clients.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/turnutils_uclient"),
    "coturn is missing: run `make deps`"))
struct TURNServiceTests {
  private func start(
    _ limits: TURNStreams.Limits = .init()
  ) async throws -> (SoraServer, port: UInt16) {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.turn = .init(port: 0)
    configuration.turn?.streamLimits = limits
    let server = try await SoraServer.start(configuration)
    let url = try #require(server.turnURLs.first.flatMap { ICEServerURL($0) })
    return (server, url.port)
  }

  private func run(_ tool: String, _ arguments: [String]) async throws -> (Int32, String) {
    let log = FileManager.default.temporaryDirectory.appendingPathComponent(
      "turnutils-\(UUID().uuidString)")
    try Data().write(to: log)
    defer { try? FileManager.default.removeItem(at: log) }
    let file = try FileHandle(forWritingTo: log)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
    process.arguments = ["40", "/usr/bin/\(tool)"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file
    process.standardError = file
    // Without holding a thread, which on a small machine the server's own tasks would miss.
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
    return (status, try String(contentsOf: log, encoding: .utf8))
  }

  @Test(arguments: [[], ["-t"]])
  func theToolsClientSendsThroughTheRelay(options: [String]) async throws {
    let (server, port) = try await start()
    let credentials = try #require(await server.turnCredentials(for: "tool"))
    // It allocates for both ends (-y), so what one sends the other gets; -c: no RTCP ports.
    let (status, text) = try await run(
      "turnutils_uclient",
      options + [
        "-u", credentials.username, "-w", credentials.password, "-p", "\(port)", "-n", "50", "-m",
        "2", "-l", "500", "-z", "5", "-c", "-y", "127.0.0.1",
      ])
    #expect(status == 0, "\(text)")
    #expect(text.contains("tot_send_msgs=100"), "\(text)")
    #expect(text.contains("tot_recv_msgs=100"), "\(text)")
    await server.shutdown()
  }

  /// Whoever opens connections and does nothing with them can't keep others out; who has an allocation stays.
  @Test func idleStreamsMakeRoom() async throws {
    var limits = TURNStreams.Limits()
    limits.total = 8
    limits.waitingOfNetwork = 8
    limits.patience = .seconds(2)
    let (server, port) = try await start(limits)
    let idle = try (0..<8).map { _ in try HalfOpenSocket(port: port) }
    // A request that isn't one holds no place either.
    idle[0].send("\0")
    while !idle.allSatisfy(\.isEnded) { try await Task.sleep(for: .milliseconds(20)) }
    let credentials = try #require(await server.turnCredentials(for: "tool"))
    // Three times as long as the patience.
    let (status, text) = try await run(
      "turnutils_uclient",
      [
        "-t", "-u", credentials.username, "-w", credentials.password, "-p", "\(port)", "-n", "60",
        "-m", "2", "-l", "500", "-z", "100", "-c", "-y", "127.0.0.1",
      ])
    #expect(status == 0, "\(text)")
    #expect(text.contains("tot_recv_msgs=120"), "\(text)")
    await server.shutdown()
  }

  /// Before its handshake is over it is nobody, and holds a place all the same.
  @Test func aHandshakeThatNeverBeginsEnds() async throws {
    let certificates = try await Certificates.shared.value
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.turn = .init(port: 0)
    configuration.turn?.securePort = 0
    configuration.turn?.tls = .init(
      certificateFile: certificates.path("other.pem"), keyFile: certificates.path("other.key"))
    configuration.turn?.streamLimits.patience = .seconds(1)
    let server = try await SoraServer.start(configuration)
    let url = server.turnURLs.first { $0.hasPrefix("turns:") }.flatMap { ICEServerURL($0) }
    let idle = try HalfOpenSocket(port: try #require(url).port)
    while !idle.isEnded { try await Task.sleep(for: .milliseconds(20)) }
    await server.shutdown()
  }

  @Test func aWrongPasswordIsRefused() async throws {
    let (server, port) = try await start()
    let (_, text) = try await run(
      "turnutils_uclient",
      ["-u", "tool", "-w", "guess", "-p", "\(port)", "-n", "1", "-c", "-y", "127.0.0.1"])
    #expect(text.contains("Cannot complete Allocation"), "\(text)")
    await server.shutdown()
  }

  @Test func theToolSeesItsOwnAddress() async throws {
    let (server, port) = try await start()
    let (status, text) = try await run("turnutils_stunclient", ["-p", "\(port)", "127.0.0.1"])
    #expect(status == 0, "\(text)")
    #expect(text.contains("UDP reflexive addr: 127.0.0.1:"), "\(text)")
    await server.shutdown()
  }
}
