package import Foundation

/// Programs that tests run: those of their own build, and the machine's.
package enum TestPrograms {
  /// A program of the build that the running test belongs to lies beside it.
  package static func built(_ name: String) -> URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent(name)
  }

  /// Whether the machine has a tool, in a folder of the path or in another.
  package static func isInstalled(_ tool: String, orIn others: [String] = []) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return (path.split(separator: ":").map(String.init) + others).contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }
  }

  /// Runs a program with its output in a file, without holding a thread; returns its status.
  ///
  /// - Parameter environment: what is added to the test's own.
  package static func run(
    _ command: [String], output: URL, environment: [String: String] = [:]
  ) async throws -> Int32 {
    try await start(command, output: output, environment: environment).status()
  }

  /// Starts a program with its output in a file. It runs once this returns, however many tests wait for a thread.
  ///
  /// - Parameter environment: what is added to the test's own.
  package static func start(
    _ command: [String], output: URL, environment: [String: String] = [:]
  ) throws -> Running {
    try Data().write(to: output)
    let file = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file
    process.standardError = file
    let (statuses, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = {
      end.yield($0.terminationStatus)
      end.finish()
    }
    try process.run()
    return Running(process: process, statuses: statuses)
  }

  /// A program that was started.
  package struct Running: @unchecked Sendable {
    // @unchecked: of the process only what any thread may ask is asked.
    fileprivate let process: Process
    fileprivate let statuses: AsyncStream<Int32>

    /// What Ctrl-C does, where it still runs.
    package func interrupt() { if process.isRunning { process.interrupt() } }

    /// Waits for its end, without holding a thread; to be asked once.
    package func status() async -> Int32 {
      for await status in statuses { return status }
      return -1
    }
  }
}
