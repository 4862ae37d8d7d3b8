public import SoraMedia

/// One node's part in a cluster, without sockets, threads and clocks: what clients and the store say goes in; what to ask the store, and
/// what was decided, comes out.
///
/// The store is asked one thing at a time. All times are this node's own and the store's remaining ones: nobody compares clocks. Confined
/// to what drives it.
public struct ClusterMember {
  public let timing: ClusterTiming
  public private(set) var node: ClusterNode
  /// Whether the store answers.
  public var isLinked: Bool { link.isUp }
  /// What happened, since the last `takeOutcomes`.
  private var outcomes: [ClusterOutcome] = []
  private var places = ClusterPlaces()
  private var view = ClusterView()
  private var link: ClusterLink
  private var questions = ClusterQuestions()
  private var asked: ClusterRequest?
  private var askedAt: Instant
  private var isLeaving = false
  private var hasLeft = false
  public private(set) var counts = ClusterCounts()

  /// - Parameters:
  ///   - node: what the others are told of this node.
  ///   - timing: the times of the cluster.
  ///   - now: when it begins.
  public init(node: ClusterNode, timing: ClusterTiming = ClusterTiming(), at now: Instant) {
    self.node = node
    self.timing = timing
    link = ClusterLink(beatAt: now, keepAt: now + timing.keep, leaseEnd: now, settledAt: now)
    askedAt = now
  }

  /// The nodes that are there, as far as this one knows, itself included.
  ///
  /// - Parameter now: leases that have ended by then count no more.
  public func nodes(at now: Instant) -> [ClusterNode] {
    var nodes = view.nodes(at: now).filter { $0.id != node.id }
    if link.isUp { nodes.append(node) }
    return nodes
  }

  /// How many channels have their place here.
  public var placeCount: Int { places.count }

  // MARK: What the server says

  /// A client wants into a channel. `decided` follows, with the ticket, at the latest after `timing.answer` and a reply of the store.
  public mutating func place(_ channel: String, ticket: UInt64, at now: Instant) {
    // Whom the channel has already, or will have: the store needn't be there.
    if places.hold(channel, ifThere: true) {
      outcomes.append(.decided(ticket, .here))
      return
    }
    questions.add(.place(channel), ticket, at: now, until: now + timing.answer)
  }

  /// Somebody asks which node has a channel. `located` follows, with the ticket.
  public mutating func locate(_ channel: String, ticket: UInt64, at now: Instant) {
    guard !places.contains(channel) else {
      outcomes.append(.located(ticket, .here))
      return
    }
    questions.add(.locate(channel), ticket, at: now, until: now + timing.answer)
  }

  /// What became of a client that was decided to be taken here: once for each such decision.
  ///
  /// - Parameters:
  ///   - channel: the client's.
  ///   - isOccupied: whether the channel has connections now.
  public mutating func settle(_ channel: String, isOccupied: Bool) {
    if places.settle(channel, isOccupied: isOccupied) == .isMissing, isOccupied {
      // It has gone elsewhere between the decision and the connection.
      outcomes.append(.moved(channel))
    }
  }

  /// The last connection of a channel has gone.
  public mutating func emptied(_ channel: String) { places.emptied(channel) }

  /// What the others are told from the next sign of life on.
  public mutating func report(_ load: ClusterLoad) { node.load = load }

  /// Takes no channel any more. `beaten` follows, with the ticket, once the others can know.
  public mutating func drain(ticket: UInt64, at now: Instant) {
    node.isDraining = true
    link.beatAt = min(link.beatAt, now)
    link.waiting.append(ticket)
  }

  /// Gives up all places. `left` follows.
  public mutating func leave() { isLeaving = true }

  /// Where a client of this node does best to go when this one ends; nil where there is no other.
  ///
  /// - Parameter now: leases that have ended by then count no more.
  public func other(at now: Instant) -> ClusterNode? {
    view.best(at: now, besides: node.id)?.node
  }

  // MARK: The store

  /// What to ask the store now; nil for nothing before `nextDeadline`, or before somebody says something.
  public mutating func nextRequest(at now: Instant) -> ClusterRequest? {
    for (ticket, question) in questions.expire(at: now) { giveUp(ticket, question) }
    guard asked == nil, !hasLeft else { return nil }
    asked = request(at: now)
    askedAt = now
    return asked
  }

  private mutating func request(at now: Instant) -> ClusterRequest? {
    if isLeaving { return .leave }
    if link.beatAt <= now { return .beat(node) }
    guard link.isUp else { return nil }
    if link.keepAt <= now {
      link.keepAt = now + timing.keep
      places.askForAll()
    }
    if let channels = places.nextToKeep() { return .keep(channels, isDraining: node.isDraining) }
    if let channels = places.nextToFree() { return .free(channels) }
    while let (ticket, question) = questions.next(at: max(now, link.settledAt), isNow: now) {
      switch question {
      case .locate(let channel): return .find(channel: channel)
      case .place(let channel):
        // Another client's answer may have come meanwhile.
        if places.hold(channel, ifThere: true) {
          questions.answered()
          outcomes.append(.decided(ticket, .here))
          continue
        }
        guard let candidate = view.candidate(of: node, at: now) else {
          questions.answered()
          giveUp(ticket, question)
          continue
        }
        return .place(channel: channel, candidate: candidate)
      }
    }
    return nil
  }

  /// Clocks may be anywhere: before all that they say.
  private static let atOnce = Instant(nanoseconds: .min / 2)

  /// When `nextRequest` wants to be called next; nil where a reply is waited for, or all is over.
  public var nextDeadline: Instant? {
    guard asked == nil, !hasLeft else { return nil }
    guard !isLeaving else { return Self.atOnce }
    guard link.isUp else { return min(link.beatAt, questions.deadline ?? .distantFuture) }
    if places.hasWork { return Self.atOnce }
    var next = min(link.beatAt, link.keepAt)
    if let due = questions.due { next = min(next, max(due, link.settledAt)) }
    return min(next, questions.deadline ?? .distantFuture)
  }

  /// The store's reply to what was asked.
  public mutating func received(_ reply: ClusterReply, at now: Instant) {
    guard let request = asked else { return }
    asked = nil
    switch (request, reply) {
    case (.beat, .nodes(let peers)): beaten(peers, at: now)
    case (.place(let channel, _), .placed(let id, let url, let remaining, let isNew)):
      placed(channel, id, url, remaining, isNew, at: now)
    case (.keep(let channels, _), .lost(let lost)):
      for channel in lost where channels.contains(channel) && places.lose(channel) {
        counts.moved += 1
        outcomes.append(.moved(channel))
      }
    case (.find, .found(let owner)):
      guard let (ticket, _) = questions.answered() else { return }
      let place: ClusterLocation =
        owner.map { $0.id == node.id ? .here : .node($0) } ?? .nowhere
      outcomes.append(.located(ticket, place))
    case (.leave, _):
      hasLeft = true
      outcomes.append(.left)
    default: break
    }
  }

  private mutating func beaten(_ peers: [ClusterPeer], at now: Instant) {
    view.update(peers, askedAt: askedAt)
    // Whoever was away longer than a lease has lost what it doesn't ask for at once.
    let wasAway = !link.isUp || link.leaseEnd < askedAt
    if !link.isUp {
      // The first time there is nothing that others could have to ask for again.
      if link.hasBeenUp { link.settledAt = now + timing.settling }
      link.isUp = true
      link.hasBeenUp = true
      outcomes.append(.linked)
    }
    if wasAway { places.askForAll() }
    link.leaseEnd = askedAt + timing.lease
    link.beatAt = askedAt + timing.beat
    for ticket in link.waiting { outcomes.append(.beaten(ticket)) }
    link.waiting = []
  }

  private mutating func placed(
    _ channel: String, _ id: String, _ url: String, _ remaining: Duration, _ isNew: Bool,
    at now: Instant
  ) {
    if id == node.id {
      guard let (ticket, _) = questions.answered() else { return }
      places.hold(channel, ifThere: false)
      outcomes.append(.decided(ticket, .here))
    } else if remaining < timing.doubt, questions.retry(at: now + timing.retry) {
      // Perhaps it is dead: that shows before the client could be sent back.
    } else if let (ticket, _) = questions.answered() {
      if isNew { view.reserve(on: id, until: now + timing.answer) }
      counts.redirects += 1
      outcomes.append(.decided(ticket, .elsewhere(url)))
    }
  }

  /// The store couldn't be asked.
  ///
  /// - Parameters:
  ///   - reason: for the log.
  ///   - now: the time.
  public mutating func failed(_ reason: String, at now: Instant) {
    guard let request = asked else { return }
    asked = nil
    counts.failures += 1
    if case .leave = request {
      // The lease ends by itself.
      hasLeft = true
      outcomes.append(.left)
    }
    if case .keep(let channels, _) = request { places.ask(for: channels) }
    if case .free(let channels) = request { places.free(channels) }
    // Comes again, as long as its client waits.
    if !questions.retry(at: now), let (ticket, question) = questions.answered() {
      giveUp(ticket, question)
    }
    link.beatAt = now + timing.retry
    if link.isUp || !link.hasFailed { outcomes.append(.unlinked(reason)) }
    link.isUp = false
    link.hasFailed = true
    for ticket in link.waiting { outcomes.append(.beaten(ticket)) }
    link.waiting = []
  }

  private mutating func giveUp(_ ticket: UInt64, _ question: ClusterQuestions.Question) {
    switch question {
    case .place:
      counts.unavailable += 1
      outcomes.append(.decided(ticket, .unavailable))
    case .locate: outcomes.append(.located(ticket, .unknown))
    }
  }

  /// What happened since the last time.
  public mutating func takeOutcomes() -> [ClusterOutcome] {
    defer { outcomes = [] }
    return outcomes
  }
}

/// What a node knows of its way to the store.
private struct ClusterLink {
  var isUp = false
  var hasBeenUp = false
  /// Whether it has been told that the store doesn't answer.
  var hasFailed = false
  var beatAt: Instant
  var keepAt: Instant
  /// The lease holds until then at least: counted from before it was asked for.
  var leaseEnd: Instant
  /// No channel is placed before.
  var settledAt: Instant
  /// Who waits for the next sign of life.
  var waiting: [UInt64] = []
}
