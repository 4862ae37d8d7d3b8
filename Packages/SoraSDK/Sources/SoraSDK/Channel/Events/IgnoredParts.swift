import SoraSignaling

/// What the server says and this version doesn't know: types of messages and keys, each told once. A newer server repeats them in
/// every message of a kind.
struct IgnoredParts: Sendable {
  /// Beyond it nothing is told any more: names are the server's to make up.
  private static let most = 32
  /// Of one name; the rest is left out.
  private static let longestName = 100

  private var told: Set<String> = []

  /// The parts of a message that haven't been told, as a line for the log; nil where there is none.
  mutating func line(for message: SignalingMessage) -> String? {
    guard told.count < Self.most else { return nil }
    let news = names(in: message).map { String($0.prefix(Self.longestName)) }
      .filter { told.count < Self.most && told.insert($0).inserted }
    guard !news.isEmpty else { return nil }
    return "unknown to this version and ignored: \(news.joined(separator: ", "))"
  }

  private func names(in message: SignalingMessage) -> [String] {
    if case .unknown = message { ["type \(message.typeName)"] } else { message.unknownKeys }
  }
}
