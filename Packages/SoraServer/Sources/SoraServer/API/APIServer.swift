import Logging
import SoraSignaling

/// The port of the HTTP API. Bodies, headers, times and numbers of clients have the limits of the HTTP server that signaling has, too.
enum APIServer {
  private static let maximumConnections = 100
  private static let router = APIRouter(
    ConnectionTargets.all + StatisticsTargets.all + LayerTargets.all + SpotlightTargets.all
      + FilterTargets.all
      + SessionTargets.all + RecordingTargets.all)

  /// Opens the port.
  ///
  /// - Parameters:
  ///   - host: an address of this machine.
  ///   - port: 0 for a free one.
  ///   - backend: what the API works on.
  ///   - http: asks other nodes; nil where there are none.
  ///   - logger: for what goes wrong.
  static func start(
    host: String, port: Int, backend: any APIBackend, http: WebhookClient?, logger: Logger
  ) async throws(SignalingError) -> SignalingServer {
    let gateway = APIGateway(router: router, backend: backend, http: http, logger: logger)
    return try await SignalingServer.start(
      host: host, port: port,
      configuration: SignalingServer.Configuration(
        // No request has this path: there are no WebSockets.
        path: "", maximumConnections: maximumConnections, logger: logger),
      http: { await gateway.respond(to: $0) },
      onConnection: { $0.close(code: .policyViolation) })
  }
}
