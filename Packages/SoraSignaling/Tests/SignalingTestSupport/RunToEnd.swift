public import Foundation

/// Runs a tool to its end, without holding a thread that other tests need. Throws where it fails.
public func runToEnd(_ tool: String, _ arguments: [String], in directory: URL? = nil) async throws {
  struct Failed: Error {
    let command: [String]
    let status: Int32
  }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [tool] + arguments
  if let directory { process.currentDirectoryURL = directory }
  process.standardError = FileHandle.nullDevice
  process.standardOutput = FileHandle.nullDevice
  let status = try await process.runToEnd()
  guard status == 0 else { throw Failed(command: [tool] + arguments, status: status) }
}

/// Runs a suite of the test program that calls this, in a process of its own that nothing else disturbs.
///
/// - Parameters:
///   - suite: what the program's filter takes.
///   - environment: beside this process's own.
/// - Returns: its exit status, and what it said.
public func runAlone(
  _ suite: String, environment: [String: String]
) async throws -> (status: Int32, text: String) {
  let output = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-alone-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: output) }
  try Data().write(to: output)
  let file = try FileHandle(forWritingTo: output)
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = ["--testing-library", "swift-testing", "--filter", suite]
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  process.standardOutput = file
  process.standardError = file
  let status = try await process.runToEnd()
  return (status, try String(contentsOf: output, encoding: .utf8))
}

extension Process {
  /// Its exit status, once it has ended.
  fileprivate func runToEnd() async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
      terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try run()
      } catch {
        terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
  }
}
