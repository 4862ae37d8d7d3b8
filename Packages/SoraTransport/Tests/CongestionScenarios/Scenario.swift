import SoraMedia
public import SoraNetworkSimulator
public import SoraWire

/// A network with a bottleneck or two, and what is sent over it when. A value: with a seed it makes one run, to the byte.
///
/// Senders are left of the bottleneck and receivers right of it, each behind an access link without a limit, which has the flow's delay;
/// flows backwards go the other way. Times are in seconds from the start, rates in bits per second on the wire.
public struct Scenario: Sendable {
  /// A rate that holds from a time on.
  public struct Step: Sendable {
    public var at: Double
    public var rate: Int

    public init(at: Double, rate: Int) {
      self.at = at
      self.rate = rate
    }
  }

  /// What one flow sends.
  public enum Kind: Sendable {
    /// Video that follows its target, and audio.
    case media(maximumVideo: Int)
    /// A transfer without an end.
    case tcp(SimulatedTCPAlgorithm)
    /// Downloads with idle times between them (RFC 8867 §5.7).
    case web(SimulatedTCPAlgorithm, startsIdle: Bool)
  }

  /// How the bottleneck's queue is kept short.
  public enum Discipline: Sendable {
    /// Only by its end.
    case dropTail
    /// RFC 8289; `marks`: what is ECN-capable is marked and not dropped.
    case codel(marks: Bool)
    /// Marks datagrams of L4S that have waited for a millisecond (RFC 9331 §5.2; RFC 9332's target).
    case scalable
  }

  /// Which bottlenecks a flow crosses, where there are two.
  public enum Way: Sendable { case both, first, second }

  public struct Flow: Sendable {
    public var kind: Kind
    /// When it sends.
    public var active: ClosedRange<Double>
    /// Within that, when its source gives nothing.
    public var pauses: [ClosedRange<Double>] = []
    /// One way, without queues.
    public var delay = Duration.milliseconds(50)
    public var isBackward = false
    public var way = Way.both

    public init(
      _ kind: Kind, _ active: ClosedRange<Double>, delay: Duration = .milliseconds(50)
    ) {
      self.kind = kind
      self.active = active
      self.delay = delay
    }

    public var isMedia: Bool {
      if case .media = kind { return true }
      return false
    }
  }

  public var name: String
  /// Where it is from, such as "RFC 8867 §5.1".
  public var origin: String
  public var seconds: Double
  public var capacity: [Step]
  /// The other way; nil for as much as there.
  public var backwardCapacity: [Step]?
  /// A second bottleneck behind the first, of this rate.
  public var secondCapacity: Int?
  /// The room in front of the bottleneck, as time at its rate.
  public var queue = Duration.milliseconds(300)
  public var discipline = Discipline.dropTail
  /// What media leaves as, reported by source (RFC 8888); nil for feedback by transport-wide numbers, without ECN.
  public var ecn: ECNCodepoint?
  /// Beyond the bottleneck: normally distributed, this its standard deviation, cut at three; packets stay in order.
  public var jitter = Duration.zero
  /// Beyond the bottleneck, too: packets take from nothing to this, evenly, and overtake each other.
  public var disorder = Duration.zero
  /// Of what has passed the bottleneck, at random.
  public var loss = 0.0
  /// When nothing passes.
  public var outage: ClosedRange<Double>?
  public var flows: [Flow]
  /// Whether the capacity's steps are long enough to be reached.
  public var measuresSteps = true
  /// From when on delay, loss and utilisation are measured.
  public var measuredFrom = 0.0

  public init(
    _ name: String, _ origin: String, seconds: Double, capacity: [Step], flows: [Flow]
  ) {
    self.name = name
    self.origin = origin
    self.seconds = seconds
    self.capacity = capacity
    self.flows = flows
  }

  /// What holds at a time.
  static func rate(_ steps: [Step], at time: Double) -> Int {
    steps.last { $0.at <= time }?.rate ?? steps.first?.rate ?? 0
  }

  /// What the forward flows could use of the first bottleneck at a time.
  func usable(at time: Double) -> Double {
    if let outage, outage.contains(time) { return 0 }
    var wanted = 0.0
    for flow in flows where !flow.isBackward && flow.way != .second && flow.sends(at: time) {
      wanted += flow.most
    }
    return min(wanted, Double(Self.rate(capacity, at: time)))
  }
}

extension Scenario.Flow {
  func sends(at time: Double) -> Bool {
    active.contains(time) && !pauses.contains { $0.contains(time) }
  }

  /// The most that it takes on the wire.
  var most: Double {
    switch kind {
    case .media(let maximum): MediaFlow.Source(maximumVideo: maximum).mostOnWire
    case .tcp, .web: .infinity
    }
  }
}
