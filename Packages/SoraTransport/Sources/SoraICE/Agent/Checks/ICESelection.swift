import SoraMedia

/// The pair in use, and what an agent's owner is told of it. RFC 8445 §12.1: any valid pair will do until one is nominated.
package struct ICESelection {
  private enum State {
    case none
    case current(CandidatePair)
    /// Its base has been taken away: nothing leaves from there.
    case stranded(CandidatePair)
    /// Of the generation before a restart: it serves until one of the present works (§9).
    case replaced(CandidatePair)
  }

  /// What a selection changed.
  package struct Change {
    /// Whether the pair is another, or of another generation.
    package let isOther: Bool
    /// Whether datagrams have to take another way.
    package let isMoved: Bool
  }

  private var state = State.none
  /// The pair as it was when it was last published.
  package private(set) var published: ICEPair?
  /// How often the pair came, went or gave way to another.
  package private(set) var changes = 0

  package init() {}

  package var pair: CandidatePair? {
    switch state {
    case .none: nil
    case .current(let pair), .stranded(let pair), .replaced(let pair): pair
    }
  }

  /// Whether there is a pair and it is of the present generation.
  package var isCurrent: Bool {
    switch state {
    case .current, .stranded: true
    case .none, .replaced: false
    }
  }

  /// Whether the base of the pair has been taken away.
  package var isStranded: Bool {
    if case .stranded = state { true } else { false }
  }

  /// Whether a pair that isn't nominated may not take its place.
  package func isPreferred(to pair: CandidatePair) -> Bool {
    guard case .current(let own) = state else { return false }
    return own.isNominated || own.priority >= pair.priority
  }

  /// Whether a pair may take the place of a nominated one: because that is gone, or is worse by type, as a relay is against a direct
  /// way that was found later.
  package func mayBeReplaced(by pair: CandidatePair) -> Bool {
    switch state {
    case .stranded(let own): own !== pair
    case .current(let own): own !== pair && pair.priority > own.priority
    case .none, .replaced: false
    }
  }

  /// Sends on a pair from now on.
  ///
  /// - Parameters:
  ///   - pair: one of the present generation.
  ///   - localType: how the peer sees our end of it.
  package mutating func select(_ pair: CandidatePair, localType: ICECandidateType) -> Change {
    let (old, isOther) = (published, self.pair !== pair || !isCurrent)
    // A new allocation may have the address of the one that is gone.
    let isMadeAnew = isStranded
    if self.pair !== pair { changes += 1 }
    state = .current(pair)
    publish(localType: localType)
    return Change(
      isOther: isOther,
      isMoved: isMadeAnew || old?.local != published?.local || old?.remote != published?.remote)
  }

  /// Tells the pair as it is now.
  package mutating func publish(localType: ICECandidateType) {
    guard let pair else { return }
    published = ICEPair(
      base: pair.local.base, remote: pair.remote.address, localType: localType,
      remoteType: pair.remote.candidate.type, isNominated: pair.isNominated,
      roundTripTime: pair.record.currentRoundTripTime)
  }

  package mutating func clear() {
    if pair != nil { changes += 1 }
    state = .none
    published = nil
  }

  /// The base of the pair has been taken away.
  package mutating func strand() {
    if case .current(let pair) = state { state = .stranded(pair) }
  }

  /// The generation has been replaced: the pair serves on, unless it is stranded.
  package mutating func leaveBehind() {
    switch state {
    case .current(let pair): state = .replaced(pair)
    case .stranded: clear()
    case .none, .replaced: break
    }
  }

  /// The generation of the pair is in force again.
  package mutating func takeBack() {
    if case .replaced(let pair) = state { state = .current(pair) }
  }
}
