package import SoraMedia

/// Which side nominates, and the number that decides where both think so, or neither (RFC 8445 §6.1.1, §7.3.1.1).
package struct ICERole {
  /// Who has to give way.
  package enum Conflict { case none, ours, theirs }

  package var isControlling: Bool
  private let isLite: Bool
  private var tieBreaker: UInt64

  package init(_ configuration: ICEConfiguration, _ random: RandomSource) {
    isControlling = configuration.isControlling && !configuration.isLite
    isLite = configuration.isLite
    tieBreaker = random.next()
  }

  package mutating func drawTieBreaker(_ random: RandomSource) { tieBreaker = random.next() }

  /// Goes back to the number of before; the role stays.
  package mutating func takeTieBreaker(of other: ICERole) { tieBreaker = other.tieBreaker }

  /// What a check says of it (§7.1.3).
  package var attribute: STUNAttribute {
    isControlling ? .iceControlling(tieBreaker) : .iceControlled(tieBreaker)
  }

  /// Compares the role that a check claims with ours.
  package func conflict(
    with claim: (isControlling: Bool, tieBreaker: UInt64), isPeerLite: Bool
  ) -> Conflict {
    guard claim.isControlling == isControlling else { return .none }
    // A lite agent can't control, whatever the numbers say.
    if isLite { return .theirs }
    if isPeerLite { return .none }
    // The greater tie-breaker controls; ours wins a draw.
    let weControl = tieBreaker >= claim.tieBreaker
    return weControl == isControlling ? .theirs : .ours
  }
}
