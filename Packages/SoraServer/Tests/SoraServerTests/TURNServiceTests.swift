import Foundation
import SoraICE
import SoraServer
import Testing

/// The server's own TURN server, with coturn's clients.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/turnutils_uclient"),
    "coturn is missing: run `make deps`"))
struct TURNServiceTests {
  private func start() async throws -> (SoraServer, port: UInt16) {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.turn = .init(port: 0)
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
