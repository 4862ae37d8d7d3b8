public import SoraMedia

extension SimulatedNetwork {
  // MARK: Callbacks

  /// Calls `action` when the network reaches `instant`, or at once when `run` continues if that has passed.
  @discardableResult
  public func at(_ instant: Instant, do action: @escaping (Instant) -> Void) -> SimulationCallback {
    addCallback(max(instant.nanoseconds, now.nanoseconds), interval: 0, action)
  }

  /// Calls `action` when `delay` has passed.
  @discardableResult
  public func after(_ delay: Duration, do action: @escaping (Instant) -> Void)
    -> SimulationCallback
  {
    at(now + delay, do: action)
  }

  /// Calls `action` now and again after each `interval` (at least a microsecond), until it is cancelled.
  @discardableResult
  public func every(_ interval: Duration, do action: @escaping (Instant) -> Void)
    -> SimulationCallback
  {
    addCallback(now.nanoseconds, interval: max(interval.wholeNanoseconds, 1_000), action)
  }

  /// Forgets a callback. Nothing happens where it was called already.
  public func cancel(_ callback: SimulationCallback) { callbacks.remove(callback) }

  private func addCallback(
    _ time: Int64, interval: Int64, _ action: @escaping (Instant) -> Void
  ) -> SimulationCallback {
    let callback = callbacks.add(interval: interval, action)
    heap.push(.callback, at: time, index: callback.index, extra: callback.generation)
    return callback
  }

  private func call(_ event: SimulationEvent) {
    let callback = SimulationCallback(index: event.index, generation: event.extra)
    guard let (action, interval) = callbacks.take(callback) else { return }
    if interval > 0 {
      heap.push(
        .callback, at: event.time + interval, index: event.index, extra: event.extra)
    }
    action(now)
    deadlinesChanged()
  }

  // MARK: Running

  /// Serves everything up to and including `end`, which then is `now`.
  public func run(until end: Instant) {
    deadlinesChanged()
    while let event = heap.first, event.time <= end.nanoseconds { step() }
    now = max(now, end)
  }

  /// When the next event is due; `nil` while there is none. Who drives the network by a real clock sleeps until then.
  public var nextEvent: Instant? { heap.first.map { Instant(nanoseconds: $0.time) } }

  /// Serves everything within the next `duration`.
  public func run(for duration: Duration) { run(until: now + duration) }

  /// Runs until `condition` holds, which is looked at after each event.
  ///
  /// - Returns: whether it came to hold within `limit`. If so `now` is the time of the event that did it; otherwise
  ///   `limit` has passed.
  public func run(
    until condition: () -> Bool, within limit: Duration
  ) -> Bool {
    let end = now + limit
    deadlinesChanged()
    if condition() { return true }
    while let event = heap.first, event.time <= end.nanoseconds {
      step()
      if condition() { return true }
    }
    now = max(now, end)
    return false
  }

  /// Writes a line of the simulation's user into the log, so that what the endpoints did is compared between runs too.
  public func note(_ text: String) { log.record(.note, at: now.nanoseconds, text) }

  /// Asks every endpoint for its deadline again. Needed only where one was called from outside the network's calls.
  public func deadlinesChanged() {
    for index in endpoints.indices { refresh(index) }
  }

  private func step() {
    guard let event = heap.pop() else { return }
    now = Instant(nanoseconds: max(event.time, now.nanoseconds))
    switch event.kind {
    case .departure: departed(topology.direction(event.index))
    case .arrival: arrived(event.extra, topology.direction(event.index))
    case .loopback: deliver(event.index)
    case .deadline: pollEndpoint(Int(event.index), event.time)
    case .callback: call(event)
    case .message: deliverMessage(event.index)
    }
  }

  // MARK: Deadlines

  func refreshHost(_ host: SimulatedHost) {
    for index in host.endpoints { refresh(index) }
  }

  /// Makes sure that an event is in the heap no later than the endpoint's deadline. A deadline that has moved away
  /// is noticed when the earlier event comes.
  func refresh(_ index: Int) {
    guard let deadline = endpoints.endpoint(index)?.nextDeadline,
      let time = endpoints.schedule(index, deadline, at: now)
    else { return }
    heap.push(.deadline, at: time, index: Int32(index))
  }

  private func pollEndpoint(_ index: Int, _ scheduled: Int64) {
    guard endpoints.take(index, scheduled: scheduled), let endpoint = endpoints.endpoint(index),
      let deadline = endpoint.nextDeadline
    else { return }
    if deadline <= now {
      endpoint.poll(at: now)
      if let next = endpoint.nextDeadline, next <= now {
        overduePolls += 1
        endpoints.holdBack(index, until: now.nanoseconds + 1_000)
      }
    }
    refreshHost(endpoints.host(of: index))
  }
}
