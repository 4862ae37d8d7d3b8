package import SoraICE

/// What an offer of ours is wanted for beside the transceivers, and whether the owner has been told of it.
package struct OfferRequest {
  /// The ICE credentials that a restart was asked for in place of, by fragment, until others are agreed on (WebRTC §4.4.1.1,
  /// "LocalIceCredentialsToReplace").
  private var replacedUfrags: Set<String> = []
  /// Those of an offer that isn't in force yet.
  private var newParameters: ICEParameters?
  /// Whether the owner was told, and nothing has been agreed on since (WebRTC §4.7.3, "[[NegotiationNeeded]]").
  private var negotiationNeededFired = false

  package init() {}

  /// Whether credentials are still to be replaced.
  package var wantsRestart: Bool { !replacedUfrags.isEmpty }

  /// Has the credentials with this fragment replaced.
  package mutating func restart(replacing ufrag: String) { replacedUfrags.insert(ufrag) }

  /// The credentials for an offer: the present ones, or, where those are to be replaced, new ones, which stay the same until the offer is
  /// set or given up.
  package mutating func parameters(
    replacing present: ICEParameters, with make: () -> ICEParameters
  ) -> ICEParameters {
    guard replacedUfrags.contains(present.ufrag) else { return present }
    let parameters = newParameters ?? make()
    newParameters = parameters
    return parameters
  }

  /// The new credentials of the offer that is set now, if it has any. Any other description gives them up.
  package mutating func takeParameters() -> ICEParameters? {
    defer { newParameters = nil }
    return newParameters
  }

  /// Notes the fragment that a completed exchange has agreed on.
  package mutating func agreed(on ufrag: String?) {
    if let ufrag, !replacedUfrags.contains(ufrag) { replacedUfrags = [] }
    negotiationNeededFired = false
  }

  /// Notes whether an offer is wanted, and returns whether the owner has yet to hear of it.
  package mutating func fires(isNeeded: Bool) -> Bool {
    defer { negotiationNeededFired = isNeeded }
    return isNeeded && !negotiationNeededFired
  }
}
