import Logging
import SoraSignaling

/// Who decides about a server's clients, and who is told of them. Must be shut down.
final class ServerAccess: Sendable {
  let control: AccessControl
  let metrics: AccessMetrics
  /// nil where nobody is told.
  let events: EventWebhook?
  /// nil where nobody is asked, by this or by the API of a cluster's node.
  let client: WebhookClient?

  /// - Parameters:
  ///   - configuration: who may connect, and who is told of it.
  ///   - isClustered: whether there are other nodes to ask.
  ///   - logger: for what goes wrong.
  /// - Throws: `invalidConfiguration` where a webhook can't be used.
  init(
    _ configuration: ServerConfiguration.Access, isClustered: Bool, logger: Logger
  ) throws(SignalingError) {
    try Self.check(configuration.authWebhook, "access.authWebhook")
    try Self.check(configuration.eventWebhook, "access.eventWebhook")
    let metrics = AccessMetrics()
    self.metrics = metrics
    let hasWebhooks = configuration.authWebhook != nil || configuration.eventWebhook != nil
    let client = hasWebhooks || isClustered ? WebhookClient() : nil
    self.client = client
    var authorizers: [any Authorizer] = []
    if let key = configuration.secretKey { authorizers.append(TokenAuthorizer(key)) }
    if let webhook = configuration.authWebhook, let client {
      authorizers.append(WebhookAuthorizer(webhook, client, metrics))
    }
    control = AccessControl(authorizers, metrics)
    if let webhook = configuration.eventWebhook, let client {
      events = EventWebhook(webhook, client, metrics, logger: logger)
    } else {
      events = nil
    }
  }

  private static func check(
    _ webhook: ServerConfiguration.Webhook?, _ field: String
  ) throws(SignalingError) {
    guard let objection = webhook?.objection else { return }
    throw SignalingError(
      stage: .configuration, code: .invalidConfiguration, field: field, detail: objection,
      wayOut: "write another URL or timeout")
  }

  /// Hands over the events that are left, and closes all connections to webhooks.
  func shutdown() async {
    await events?.finish()
    await client?.shutdown()
  }
}
