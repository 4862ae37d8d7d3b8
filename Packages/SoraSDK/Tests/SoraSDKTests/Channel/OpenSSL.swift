import Foundation
import SignalingTestSupport

/// Runs openssl in a folder; returns when it has ended well.
func openssl(_ arguments: String, in folder: URL) async throws {
  try await runToEnd("openssl", arguments.split(separator: " ").map(String.init), in: folder)
}
