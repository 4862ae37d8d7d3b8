import Foundation
import Testing

/// What a machine needs for a test with foreign peers. A test without it is skipped and says what is missing; `make
/// deps` installs all of it.
enum Requirement {
  /// A namespace of the test's own, and Python with its virtual environments.
  static let missingForScenarios: String? = {
    for tool in ["python3", "ip", "unshare", "flock", "timeout", "openssl", "setpriv"]
    where !exists(tool) {
      return "\(tool) is missing: run `make deps`"
    }
    guard succeeds("python3", "-c", "import venv, ensurepip") else {
      return "python3-venv is missing: run `make deps`"
    }
    guard succeeds("unshare", getuid() == 0 ? "-n" : "-Urn", "true") else {
      return "network namespaces are not allowed here"
    }
    return nil
  }()

  static let missingForBrowser: String? =
    missingForScenarios
    ?? (FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
      ? nil : "chromium is missing: run `make deps`")

  private static func exists(_ tool: String) -> Bool {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return folders.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }
  }

  private static func succeeds(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

extension Trait where Self == ConditionTrait {
  static var needsPeers: Self {
    .disabled(
      if: Requirement.missingForScenarios != nil, "\(Requirement.missingForScenarios ?? "")")
  }
  static var needsBrowser: Self {
    .disabled(if: Requirement.missingForBrowser != nil, "\(Requirement.missingForBrowser ?? "")")
  }
}
