import SoraICE
import SoraServer

extension SoraServer {
  /// Runs a server for the tests in `body` on loopback addresses, and ends it however that ends.
  static func serving(
    _ configure: (inout Configuration) -> Void = { _ in },
    _ body: (SoraServer) async throws -> Void
  ) async throws {
    var configuration = Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configure(&configuration)
    let server = try await SoraServer.start(configuration)
    do {
      try await body(server)
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }
}

extension WebhookReceiver {
  /// The same with a receiver of webhooks that answers them with `reply`.
  static func serving(
    _ reply: @escaping Reply, _ body: (WebhookReceiver) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(reply)
    do {
      try await body(receiver)
    } catch {
      await receiver.stop()
      throw error
    }
    await receiver.stop()
  }
}
