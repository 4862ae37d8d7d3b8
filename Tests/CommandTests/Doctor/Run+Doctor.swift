import Foundation
import Testing

extension Run {
  /// What `sora doctor` says of a server, by the name of the check.
  static func doctor(_ url: String, _ options: [String]) async throws -> [String: [String: Any]] {
    let run = try await beside(["doctor", url, "--json"] + options)
    let lines = try run.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    let checks = lines.compactMap { line in (line["check"] as? String).map { ($0, line) } }
    return Dictionary(checks) { $1 }
  }
}
