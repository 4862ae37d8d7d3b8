import Foundation
import Testing

/// A `sora` that runs beside a test.
final class ServedProgram: @unchecked Sendable {
  // @unchecked: a process of its own, started in `init`; what is called here may be called from any thread.
  private let process = Process()
  private let output = Pipe()

  /// Starts a server. Returns when it is ready.
  static func serve(
    port: Int = 0, _ options: [String] = []
  ) async throws -> (server: ServedProgram, port: Int) {
    let server = try ServedProgram(
      ["serve", "--host", "127.0.0.1", "--port", String(port)] + options)
    let line = try #require(try await server.line { $0.hasPrefix("ready") })
    let address = try #require(line.split(separator: " ").last.map(String.init))
    return (server, try #require(URL(string: address)?.port))
  }

  /// - Parameters:
  ///   - environment: what is added to the test's own.
  ///   - errors: the file that gets its standard error; nil for none.
  init(_ arguments: [String], environment: [String: String] = [:], errors: URL? = nil) throws {
    process.executableURL = try Run.command()
    process.arguments = arguments
    process.standardOutput = output
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let errors {
      try Data().write(to: errors)
      process.standardError = try FileHandle(forWritingTo: errors)
    } else {
      process.standardError = FileHandle.nullDevice
    }
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// The next line that is wanted; nil where there is none any more. Without holding a thread of the tests' pool.
  func line(_ isWanted: @escaping @Sendable (String) -> Bool) async throws -> String? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        var text = ""
        while true {
          let byte = output.fileHandleForReading.readData(ofLength: 1)
          guard let first = byte.first else { return continuation.resume(returning: nil) }
          guard first == 10 else {
            text.unicodeScalars.append(Unicode.Scalar(first))
            continue
          }
          if isWanted(text) { return continuation.resume(returning: text) }
          text = ""
        }
      }
    }
  }

  /// The summary at its end.
  func summary() async throws -> [String: Any] {
    let line = try #require(try await line { $0.contains("\"type\":\"summary\"") })
    return try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  func interrupt() {
    process.interrupt()
    process.waitUntilExit()
  }

  /// Asks it to end, as Ctrl-C does, and waits for nothing.
  func askToEnd() { process.interrupt() }

  /// Asks it to end, as a service manager does.
  func terminate() { process.terminate() }

  /// How it ended; waits for that.
  func status() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Ends it as a crash would.
  func crash() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
