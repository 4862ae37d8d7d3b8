package import SoraMedia

/// Whether the peer still wants what we send (RFC 7675): its last sign of life on the selected pair, and when to ask for the next.
package struct ICEConsent {
  /// Whose TURN server carries what goes over a pair.
  package enum Relaying { case none, ours, peers }

  private enum Relay {
    case reliable
    case inDoubt
    /// In doubt until then.
    case answered(Instant)
  }

  private let configuration: ICEConfiguration
  private var lastHeard = Instant.zero
  /// When to ask; nil while nothing is to be asked.
  package private(set) var nextCheckAt: Instant?
  // Checks since the peer was heard.
  private var unanswered = 0
  // Whether our relay may be what is silent.
  private var relay = Relay.reliable

  package init(_ configuration: ICEConfiguration) { self.configuration = configuration }

  /// The peer gave a sign of life.
  package mutating func hear(at now: Instant, _ random: RandomSource) {
    lastHeard = now
    unanswered = 0
    if configuration.isLite {
      nextCheckAt = configuration.liteAsksWhenSilent ? now + .seconds(2) : nil
    } else {
      // §5.1: randomised by ±20 %, so that many agents don't fall into step.
      let permille = 800 + Int64(random.next() % 401)
      nextCheckAt =
        now + .nanoseconds(configuration.consentInterval.wholeNanoseconds / 1000 * permille)
    }
  }

  /// There is no pair to ask on any more.
  package mutating func stopAsking() { nextCheckAt = nil }

  /// See `ICEAgent.noteRelay`.
  package mutating func noteRelay(isInDoubt: Bool, at now: Instant) {
    switch relay {
    case _ where isInDoubt: relay = .inDoubt
    case .inDoubt: relay = .answered(now)
    case .reliable, .answered: break
    }
  }

  /// From when on the silence is worth a word, unless the peer is heard before.
  package var silentFrom: Instant { lastHeard + configuration.disconnectedTimeout }

  package func isSilent(at now: Instant) -> Bool { now >= silentFrom }

  /// When consent is lost (§5.1), unless the peer is heard before.
  package func end(over relaying: Relaying) -> Instant {
    let soon = lastHeard + configuration.consentTimeout
    let late = max(soon, lastHeard + configuration.relayedConsentTimeout)
    switch (relaying, relay) {
    case (.none, _), (.ours, .reliable): return soon
    case (.peers, _), (.ours, .inDoubt): return late
    case (.ours, .answered(let again)):
      // The peer's time begins when the relay is there again.
      return max(soon, min(late, again + configuration.consentTimeout))
    }
  }

  /// Takes the check that is due and schedules the next. `hear` slows down again; until then many askings tell a link that loses a
  /// third of all datagrams from a dead one.
  ///
  /// - Returns: how many before it have had no answer; nil while none is due.
  package mutating func takeCheck(at now: Instant, isDisconnected: Bool, roundTrip: Duration?)
    -> Int?
  {
    guard let due = nextCheckAt, due <= now else { return nil }
    let pause: Duration =
      now - lastHeard >= configuration.consentTimeout
      ? configuration.consentInterval
      : isDisconnected ? .milliseconds(100) : .milliseconds(250)
    nextCheckAt = now + min(max(pause, roundTrip ?? .zero), .seconds(1))
    unanswered += 1
    return unanswered - 1
  }
}
