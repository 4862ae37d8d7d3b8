import Logging
import SoraCluster
import SoraSignaling
import SoraSignalingMessages

/// Brings requests of the HTTP API to the node that has what they are about.
struct APIGateway: Sendable {
  let router: APIRouter
  let backend: any APIBackend
  /// nil where there are no other nodes.
  let http: WebhookClient?
  let logger: Logger

  /// Marks what another node has sent: that is answered here, whoever has the channel, so that nothing goes in circles.
  private static let mark = "x-sora-forwarded"
  private static let timeout = Duration.seconds(5)
  private static let maximumBody = 1 << 20

  /// Targets about all channels: lists, which are joined, and counts, which are added.
  private static let gathered: Set<String> = [
    "Sora_20201013.ListConnections", "Sora_20171101.GetStatsAllConnections",
    "Sora_20211215.ListRtcStats", "Sora_20231220.ListSessions", "Sora_20171010.GetStatsReport",
  ]

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST", request.path == "/", request.headers[Self.mark] == nil,
      let target = request.headers["x-sora-target"], let http, let cluster = await backend.cluster()
    else { return await router.respond(to: request, backend) }
    guard !Self.gathered.contains(target) else {
      return await gather(request, target, cluster, http)
    }
    guard let channel = Self.channel(of: request) else {
      return await router.respond(to: request, backend)
    }
    switch await cluster.locate(channel) {
    case .here, .nowhere: return await router.respond(to: request, backend)
    case .unknown:
      return APIError(
        status: 503, type: "CLUSTER-UNAVAILABLE",
        reason: "the channel isn't on this node, and the cluster's Redis doesn't answer"
      ).response
    case .node(let owner):
      guard let url = owner.apiURL else {
        return APIError(
          status: 502, type: "NODE-WITHOUT-API",
          reason: "channel \(channel) is on a node that has no HTTP API; start it with --api-port"
        ).response
      }
      do throws(WebhookError) {
        return try await ask(url, request, target, http)
      } catch {
        return APIError(
          status: 502, type: "NODE-UNREACHABLE",
          reason: "channel \(channel) is on another node, whose API doesn't answer: \(error)"
        ).response
      }
    }
  }

  private static func channel(of request: HTTPRequest) -> String? {
    (try? JSONValue(parsing: request.body, maximumSize: maximumBody))?["channel_id"]?.stringValue
  }

  private func ask(
    _ url: String, _ request: HTTPRequest, _ target: String, _ http: WebhookClient
  ) async throws(WebhookError) -> HTTPResponse {
    let (status, body) = try await http.forward(
      request.body, to: url, headers: [("x-sora-target", target), (Self.mark, "1")],
      timeout: Self.timeout)
    return HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: body)
  }

  // MARK: All nodes

  private func gather(
    _ request: HTTPRequest, _ target: String, _ cluster: Cluster, _ http: WebhookClient
  ) async -> HTTPResponse {
    let own = await router.respond(to: request, backend)
    guard own.status == 200, let first = try? JSONValue(parsing: own.body) else { return own }
    let urls = cluster.nodes.filter { $0.id != cluster.id }.map(\.apiURL)
    let others = await withTaskGroup(of: JSONValue?.self) { group in
      for url in urls {
        group.addTask {
          guard let url, let reply = try? await ask(url, request, target, http),
            reply.status == 200
          else { return nil }
          return try? JSONValue(parsing: reply.body)
        }
      }
      return await group.reduce(into: [JSONValue?]()) { $0.append($1) }
    }
    var response = HTTPResponse(json: others.compactMap { $0 }.reduce(first, Self.joined))
    let missing = others.count { $0 == nil }
    if missing > 0 {
      // A node that has just died counts as there for another moment.
      response.headers["x-sora-missing-nodes"] = "\(missing)"
      logger.warning(
        "nodes are missing in an answer", metadata: ["target": "\(target)", "nodes": "\(missing)"])
    }
    return response
  }

  /// Two nodes' answers as one.
  private static func joined(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
    switch (one, other) {
    case (.array(let first), .array(let second)): .array(first + second)
    case (.object(let first), .object(let second)):
      .object(first.merging(second) { sum($0, $1) })
    default: one
    }
  }

  /// Numbers are counts; of anything else this node's counts.
  private static func sum(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
    guard case .integer(let first) = one, case .integer(let second) = other else { return one }
    let (sum, overflow) = first.addingReportingOverflow(second)
    return .integer(overflow ? .max : sum)
  }
}
