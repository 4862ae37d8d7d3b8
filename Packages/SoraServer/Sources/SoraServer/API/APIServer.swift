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
  static func start(
    host: String, port: Int, backend: any APIBackend, logger: Logger
  ) async throws(SignalingError) -> SignalingServer {
    try await SignalingServer.start(
      host: host, port: port,
      configuration: SignalingServer.Configuration(
        // No request has this path: there are no WebSockets.
        path: "", maximumConnections: maximumConnections, logger: logger),
      http: { await router.respond(to: $0, backend) },
      onConnection: { $0.close(code: .policyViolation) })
  }
}
