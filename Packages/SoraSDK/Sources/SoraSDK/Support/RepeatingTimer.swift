import Dispatch

/// Runs something again and again while it is held.
final class RepeatingTimer: @unchecked Sendable {
  // @unchecked: a timer may be ended on any thread; Dispatch says so, and its protocol doesn't.
  private let source: any DispatchSourceTimer

  /// - Parameters:
  ///   - interval: also until the first time.
  ///   - queue: where `body` runs.
  ///   - body: holds nothing that holds the timer.
  init(every interval: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    let interval = DispatchTimeInterval.nanoseconds(Int(interval / .nanoseconds(1)))
    source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval)
    source.setEventHandler(handler: body)
    source.activate()
  }

  deinit { source.cancel() }
}
