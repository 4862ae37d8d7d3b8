import SoraDTLS
import SoraDataChannel
import SoraMedia
import SoraTransport

// Channels end at the server: what stands on them is for the core's owner.
extension SFUConnection: DataTransportDelegate {
  /// Begins the association that the client has agreed to.
  func start(_ remote: SFUAnswer.Data, over transport: SFUAnswer.Transport, at now: Instant) {
    data?.negotiated(
      DataTransport.Remote(
        isClient: transport.localRole == .client, port: remote.port,
        maximumMessageSize: remote.maximumMessageSize),
      at: now)
  }

  func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
    guard !isEnded else { return }
    core.emit(event, of: connectionID)
  }
}
