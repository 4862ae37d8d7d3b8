import SoraCluster
import SoraSignaling
import SoraSignalingMessages

/// What the API's handlers work on.
protocol APIBackend: Sendable {
  /// nil where nothing can be recorded.
  func recordings() async -> ServerRecordings?
  func sessionID(channelID: String) async -> String?
  /// Whether no further connections are taken.
  func isDraining() async -> Bool
  /// A name that nothing else has.
  func makeIdentifier() async -> String
  /// All connections where nothing is selected.
  func status(of selection: SFUSelection?) async -> [SFUConnectionStatus]
  /// How many it went to.
  func push(_ data: JSONValue, to selection: SFUSelection) async -> Int
  /// How many there were.
  func disconnect(_ selection: SFUSelection, reason: String?) async -> Int
  func requestKeyFrame(connectionID: String) async
  func sessions() async -> [SFUSession]
  /// Ends all connections of a session; of the one that there is where none is named. Its id; nil where there is no such session.
  func endSession(channelID: String, sessionID: String?) async -> String?
  /// Of all connections where nothing is selected.
  func clientStatistics(of selection: SFUSelection?) async -> [SFUClientStatistics]
  func metrics() async -> ServerMetrics
  /// nil where the server is alone.
  func cluster() async -> Cluster?
  /// Changes a filter of a connection, or of the channel where none is named.
  func change(
    _ change: SFUFilterChange, channelID: String, connectionID: String?
  ) async -> SFUFilterOutcome
  /// nil where there is no such channel.
  func filters(channelID: String) async -> [SFUFilterStatus]?
  func change(_ change: SFUSpotlightChange, channelID: String) async -> SFUSpotlightOutcome
  /// Whether both are in the channel.
  func requestSimulcastRid(
    _ rid: SignalingRid, channelID: String, receiver: String, sender: String?
  ) async -> Bool
}

/// One target of the API: reads its request, and answers it.
struct APIRoute: Sendable {
  /// As `x-sora-target` has it.
  let target: String
  let answer: @Sendable (APIBody, any APIBackend) async throws(APIError) -> JSONValue

  init<Request: Sendable>(
    _ target: String, _ request: @escaping @Sendable (APIBody) throws(APIError) -> Request,
    _ handler: @escaping @Sendable (Request, any APIBackend) async throws(APIError) -> JSONValue
  ) {
    self.target = target
    answer = { body, backend async throws(APIError) in
      try await handler(try request(body), backend)
    }
  }
}

/// Sora's HTTP API: `POST /` with the method in `x-sora-target`, JSON in and out.
struct APIRouter: Sendable {
  private let routes: [String: APIRoute]

  init(_ routes: [APIRoute]) {
    self.routes = Dictionary(routes.map { ($0.target, $0) }) { first, _ in first }
  }

  func respond(to request: HTTPRequest, _ backend: any APIBackend) async -> HTTPResponse {
    if let page = await page(request, backend) { return page }
    do throws(APIError) {
      return HTTPResponse(json: try await answer(request, backend))
    } catch {
      var response = error.response
      if error.status == 405 { response.headers["Allow"] = "POST" }
      return response
    }
  }

  /// What is there for machines that watch the server: whether it runs, and what it counts.
  private func page(_ request: HTTPRequest, _ backend: any APIBackend) async -> HTTPResponse? {
    guard request.method == "GET" else { return nil }
    switch request.path {
    case "/healthz":
      // Asked on the loop: one that hangs doesn't answer.
      guard await !backend.isDraining() else {
        // A load balancer sends nobody here any more.
        return HTTPResponse(status: 503, text: "draining\n")
      }
      return HTTPResponse(text: "ok\n")
    case "/metrics":
      return HTTPResponse(
        contentType: "text/plain; version=0.0.4; charset=utf-8", text: await backend.metrics().text)
    default: return nil
    }
  }

  private func answer(
    _ request: HTTPRequest, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    guard request.path == "/" else {
      throw APIError(status: 404, type: "PATH-NOT-FOUND", reason: "the API is at /")
    }
    guard request.method == "POST" else {
      throw APIError(status: 405, type: "METHOD-NOT-ALLOWED", reason: "send POST")
    }
    guard let target = request.headers["x-sora-target"] else {
      throw .invalid("MISSING-TARGET", "name the method in the header x-sora-target")
    }
    guard let route = routes[target] else {
      let known = routes.keys.sorted().joined(separator: ", ")
      throw .invalid("INVALID-TARGET", "x-sora-target: this server has \(known)")
    }
    return try await route.answer(try APIBody(request.body), backend)
  }
}
