import Foundation
package import Logging
import SoraClock
import SoraSignalingMessages

/// Tells an event webhook what happens, one event after the other. Safe from any thread; never makes its caller wait.
///
/// An event that can't be handed over is tried again, with growing pauses, and then given up; those behind it wait. Beyond a bound the
/// newest are dropped.
package final class EventWebhook: Sendable {
  package struct Policy: Sendable {
    /// Events that wait at most.
    package var capacity = 4096
    /// Tries for each event.
    package var tries = 5
    /// Before the second try; doubled before each further one.
    package var firstPause = Duration.milliseconds(500)
    /// How long the server waits for what is left when it goes.
    package var goodbye = Duration.seconds(3)

    package init() {}
  }

  private let policy: Policy
  private let metrics: AccessMetrics
  private let logger: Logger
  private let queue: AsyncStream<Event>.Continuation
  private let delivery: Task<Void, Never>

  private struct Event: Sendable {
    let report: SFUReport
    /// The same with each try, so that who takes it twice notices.
    let id = UUID()
  }

  package init(
    _ webhook: ServerConfiguration.Webhook, _ client: WebhookClient, _ metrics: AccessMetrics,
    logger: Logger, policy: Policy = Policy()
  ) {
    self.policy = policy
    self.metrics = metrics
    self.logger = logger
    let (events, queue) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingOldest(policy.capacity))
    self.queue = queue
    delivery = Task {
      for await event in events {
        await Self.deliver(event, to: webhook, client, metrics, policy, logger)
      }
    }
  }

  /// Puts an event behind those that wait.
  package func send(_ report: SFUReport) {
    guard case .dropped = queue.yield(Event(report: report)) else { return }
    metrics.count(.eventsDropped)
    // One line for many: whoever doesn't listen misses a lot.
    if metrics[.eventsDropped] % 1000 == 1 {
      logger.warning("events are dropped: the event webhook is too slow")
    }
  }

  /// Hands over what is left, within the policy's limit.
  package func finish() async {
    queue.finish()
    let delivery = delivery
    let limit = Task { [policy] in
      try await Task.sleep(for: policy.goodbye)
      delivery.cancel()
    }
    await delivery.value
    limit.cancel()
  }

  private static func deliver(
    _ event: Event, to webhook: ServerConfiguration.Webhook, _ client: WebhookClient,
    _ metrics: AccessMetrics, _ policy: Policy, _ logger: Logger
  ) async {
    let body = event.report.json(id: event.id.uuidString)
    var pause = policy.firstPause
    for attempt in 1...max(1, policy.tries) {
      do throws(WebhookError) {
        _ = try await client.post(body, to: webhook)
        return metrics.count(.eventsDelivered)
      } catch {
        guard !Task.isCancelled else { return metrics.count(.eventsDropped) }
        metrics.count(.eventTriesFailed)
        logger.warning(
          "an event was not taken",
          metadata: ["event": "\(event.report.type)", "try": "\(attempt)", "error": "\(error)"])
        guard error.mayPass, attempt < policy.tries else { break }
        try? await Task.sleep(for: pause)
        pause *= 2
      }
    }
    metrics.count(.eventsDropped)
  }
}

extension WebhookError {
  /// Whether a later try may do.
  fileprivate var mayPass: Bool {
    switch self {
    case .status(let code): code >= 500 || code == 408 || code == 429
    case .timeout, .failed: true
    // Nobody reads the reply to an event; but who sends so much doesn't know what was sent.
    case .tooLarge, .notJSON: false
    }
  }
}
