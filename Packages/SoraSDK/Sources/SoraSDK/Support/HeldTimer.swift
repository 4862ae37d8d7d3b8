import Dispatch

/// Runs something once, or again and again, while it is held: nothing of it is left behind when it isn't any more.
final class HeldTimer: @unchecked Sendable {
  // @unchecked: a timer may be ended on any thread; Dispatch says so, and its protocol doesn't.
  private let source: any DispatchSourceTimer

  /// - Parameters:
  ///   - interval: also until the first time.
  ///   - queue: where `body` runs.
  ///   - body: holds nothing that holds the timer.
  convenience init(
    every interval: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    let interval = DispatchTimeInterval.nanoseconds(Int(interval / .nanoseconds(1)))
    self.init(after: interval, repeating: interval, on: queue, body)
  }

  /// Runs `body` once, likewise.
  convenience init(
    after delay: DispatchTimeInterval, on queue: DispatchQueue,
    _ body: @escaping @Sendable () -> Void
  ) {
    self.init(after: delay, repeating: .never, on: queue, body)
  }

  private init(
    after delay: DispatchTimeInterval, repeating interval: DispatchTimeInterval,
    on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + delay, repeating: interval)
    source.setEventHandler(handler: body)
    source.activate()
  }

  deinit { source.cancel() }
}
