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
  let status = try await withCheckedThrowingContinuation { continuation in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do {
      try process.run()
    } catch {
      process.terminationHandler = nil
      continuation.resume(throwing: error)
    }
  }
  guard status == 0 else { throw Failed(command: [tool] + arguments, status: status) }
}
