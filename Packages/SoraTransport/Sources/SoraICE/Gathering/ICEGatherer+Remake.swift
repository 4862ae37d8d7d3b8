public import SoraMedia
public import SoraWire

/// Allocations that are lost while a call runs are made anew, from the same server.
extension ICEGatherer {
  /// A try that waits for its time.
  struct Remake {
    let server: Int
    /// The socket and the server's address; `nil` for a stream.
    let way: (base: TransportAddress, remote: TransportAddress)?
    let tries: Int
    var at: Instant
    var predecessor: ICERelay?
  }

  /// Asks the servers whether they still have our allocations: for when the way to the peer has gone silent.
  ///
  /// One that a server has forgotten is lost at once, and asked for again; beside a stream that doesn't answer another one is opened.
  public func verifyRelays(at now: Instant) {
    guard !isClosed else { return }
    for relay in relays { relay.client.verify(at: now) }
    settle(at: now)
  }

  /// Whether it may be the server's doing that nothing comes through a relay: it has owed an answer for a second, or the allocation is
  /// gone and another is being asked for.
  public func mayBeDown(_ address: TransportAddress, at now: Instant) -> Bool {
    guard let relay = relay(at: address) else { return isGathering }
    return relay.client.unansweredSince.map { now - $0 >= .seconds(1) } ?? false
  }

  /// Plans another allocation in the place of one that is lost. Returns false where that is no use.
  func planRemake(of relay: ICERelay, after error: TURNError, at now: Instant) -> Bool {
    // What was to stand in for it takes over.
    if let successor = relays.first(where: { $0.predecessor === relay }) {
      successor.predecessor = nil
      return true
    }
    if let index = remakes.firstIndex(where: { $0.predecessor === relay }) {
      remakes[index].predecessor = nil
      return true
    }
    guard error.isRecoverable, relay.lastAddress != nil || relay.tries > 0 else { return false }
    if let base = relay.base, !bases.contains(base) { return false }
    // One that has lasted has shown that the server is well.
    let hasLasted = relay.allocatedAt.map { now - $0 >= .seconds(60) } ?? false
    let tries = hasLasted ? 0 : relay.tries
    guard tries < configuration.maximumRemakes else {
      relay.predecessor?.isBeyondHelp = true
      return relay.predecessor != nil
    }
    let remote = relay.client.visited.first ?? relay.client.server
    remakes.append(
      Remake(
        server: relay.server, way: relay.base.map { ($0, remote) }, tries: tries + 1,
        at: now + pause(before: tries), predecessor: relay.predecessor))
    return true
  }

  /// The first try comes at once, but not that of every client of a restarted server in the same moment.
  private func pause(before tries: Int) -> Duration {
    guard tries > 0 else { return .milliseconds(1 + Int64(random.next() % 50)) }
    var pause = configuration.remakeDelay.wholeNanoseconds
    for _ in 1..<tries {
      pause = min(pause * 3 / 2, configuration.maximumRemakeDelay.wholeNanoseconds)
    }
    return .nanoseconds(pause / 1000 * (800 + Int64(random.next() % 401)))
  }

  func beginRemakes(at now: Instant) {
    let due = remakes.filter { $0.at <= now }
    guard !due.isEmpty else { return }
    remakes.removeAll { $0.at <= now }
    for remake in due {
      if let way = remake.way {
        _ = beginRelay(
          remake.server, from: way.base, to: way.remote, tries: remake.tries, at: now)
      } else if remake.predecessor != nil
        || !relays.contains(where: { $0.server == remake.server })
      {
        openStream(
          remake.server, to: configuration.servers[remake.server], tries: remake.tries,
          predecessor: remake.predecessor)
      }
    }
  }

  // MARK: Streams that keep silent

  /// Opens another stream beside each that has owed an answer for too long: it may be dead without an end, or only slow.
  func replaceSilentStreams(at now: Instant) {
    for relay in relays {
      guard let due = replacementDue(of: relay), due <= now else { continue }
      openStream(
        relay.server, to: configuration.servers[relay.server], tries: 1, predecessor: relay)
    }
  }

  private func replacementDue(of relay: ICERelay) -> Instant? {
    guard relay.stream != nil, !relay.isBeyondHelp, let since = relay.client.unansweredSince,
      !relays.contains(where: { $0.predecessor === relay }),
      !remakes.contains(where: { $0.predecessor === relay })
    else { return nil }
    return since + configuration.streamPatience
  }

  var nextRemake: Instant? {
    var deadline: Instant?
    for remake in remakes { deadline = earliest(deadline, remake.at) }
    for relay in relays { deadline = earliest(deadline, replacementDue(of: relay)) }
    return deadline
  }

  /// The new allocation is there before the old one has spoken again.
  func replace(_ old: ICERelay, by relay: ICERelay, at now: Instant) {
    relay.predecessor = nil
    dismiss(old, at: now)
  }

  /// An old stream that speaks again needs nobody in its place.
  func dropNeedlessSuccessors(at now: Instant) {
    func isNeedless(_ predecessor: ICERelay?) -> Bool {
      predecessor.map { $0.client.unansweredSince == nil } ?? false
    }
    remakes.removeAll { isNeedless($0.predecessor) }
    for relay in relays where isNeedless(relay.predecessor) {
      dismiss(relay, at: now)
    }
  }

  private func dismiss(_ relay: ICERelay, at now: Instant) {
    relay.client.close(at: now)
    withdraw(relay)
    droppedHere.add(relay.client.statistics)
    relays.removeAll { $0 === relay }
  }
}
