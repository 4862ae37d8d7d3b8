import SoraSignaling
import Synchronization

/// An HTTP server on a free port that keeps what it is posted, and replies what it is told to.
final class WebhookReceiver: Sendable {
  typealias Reply = @Sendable (JSONValue?) async -> HTTPResponse

  private let server: SignalingServer
  private let box: Box

  private final class Box: Sendable {
    let requests = Mutex<[HTTPRequest]>([])
    let reply: Reply

    init(_ reply: @escaping Reply) { self.reply = reply }
  }

  init(_ reply: @escaping Reply) async throws {
    let box = Box(reply)
    self.box = box
    server = try await SignalingServer.start(
      configuration: SignalingServer.Configuration(path: ""),
      http: { request in
        box.requests.withLock { $0.append(request) }
        return await box.reply(try? JSONValue(parsing: request.body))
      },
      onConnection: { $0.close() })
  }

  var url: String { "http://127.0.0.1:\(server.boundPort)/hook" }

  var requests: [HTTPRequest] { box.requests.withLock { $0 } }

  /// What was posted, in its order.
  var bodies: [JSONValue] { requests.compactMap { try? JSONValue(parsing: $0.body) } }

  func stop() async { await server.stop() }
}

extension HTTPResponse {
  /// 200 with JSON.
  static func json(_ value: JSONValue) -> HTTPResponse {
    HTTPResponse(contentType: "application/json", text: value.text)
  }
}

/// Waits until something is so. Gives up after a time that no test should need.
func waits(_ isSo: @Sendable () async -> Bool) async -> Bool {
  for _ in 0..<2_000 {
    if await isSo() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return false
}
