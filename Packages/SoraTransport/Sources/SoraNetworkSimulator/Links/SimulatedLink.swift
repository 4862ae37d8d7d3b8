public import SoraMedia

/// What a link asks of the network that it is part of.
protocol LinkNetwork: AnyObject {
  var now: Instant { get }
  @discardableResult
  func at(_ instant: Instant, do action: @escaping (Instant) -> Void) -> SimulationCallback
  /// Changes a direction's conditions, and drops what waits in one that goes down.
  func apply(_ conditions: LinkConditions, to direction: LinkDirection)
}

/// A link between two hosts or routers. Each direction has conditions of its own, which may change at any time.
public final class SimulatedLink {
  /// From the first to the second end that `link(_:_:)` was given.
  let forward: LinkDirection
  let backward: LinkDirection
  private unowned let network: any LinkNetwork

  init(forward: LinkDirection, backward: LinkDirection, network: any LinkNetwork) {
    self.forward = forward
    self.backward = backward
    self.network = network
  }

  /// Conditions from the first to the second end.
  public var forwardConditions: LinkConditions {
    get { forward.conditions }
    set { network.apply(newValue, to: forward) }
  }

  /// Conditions from the second to the first end.
  public var backwardConditions: LinkConditions {
    get { backward.conditions }
    set { network.apply(newValue, to: backward) }
  }

  /// Counters from the first to the second end.
  public var forwardStatistics: LinkStatistics { forward.statistics }
  /// Counters from the second to the first end.
  public var backwardStatistics: LinkStatistics { backward.statistics }

  /// Called for each datagram that begins to be sent from the first to the second end at the link's rate, with the time that it
  /// waited in the queue.
  public var onForwardDeparture: ((_ datagram: QueuedDatagram, _ now: Instant) -> Void)? {
    get { forward.onDeparture }
    set { forward.onDeparture = newValue }
  }

  /// Takes both directions up or down, and keeps the other conditions.
  public func setUp(_ isUp: Bool) {
    forwardConditions.isUp = isUp
    backwardConditions.isUp = isUp
  }

  /// Changes both directions when the network reaches `instant`.
  public func change(at instant: Instant, _ edit: @escaping (inout LinkConditions) -> Void) {
    network.at(instant) { [self] _ in
      var forwards = forwardConditions
      edit(&forwards)
      forwardConditions = forwards
      var backwards = backwardConditions
      edit(&backwards)
      backwardConditions = backwards
    }
  }

  /// Milliseconds of data that wait in front of each direction's rate limit now.
  public var queueTimes: (forward: Duration, backward: Duration) {
    let now = network.now.nanoseconds
    return (
      .nanoseconds(forward.waitingTime(at: now)), .nanoseconds(backward.waitingTime(at: now))
    )
  }
}
