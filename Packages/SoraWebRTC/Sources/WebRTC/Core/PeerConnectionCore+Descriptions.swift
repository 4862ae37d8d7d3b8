public import SoraICE
public import SoraMedia
import SoraSDP
import SoraTransport

/// Descriptions, and what they do to ICE: restarts and rollbacks.
extension PeerConnectionCore {
  public func createOffer() throws(NegotiationError) -> String {
    describe(
      offerRequest.parameters(replacing: transport.ice.localParameters) {
        transport.ice.makeParameters()
      })
    return try negotiator.createOffer().text
  }

  /// Has the next offer carry new ICE credentials (W3C `restartIce`). Once that is in force both sides look for a path anew, while
  /// packets go on over the old one (RFC 8445 §9); it leads out of a failure of ICE too. Before anything was described it does nothing.
  ///
  /// An offer that is rolled back takes the new credentials with it, and leaves the wish for the next one.
  public func restartICE(at now: Instant) {
    let exchange = negotiator.exchange
    for description in [exchange.inForce?.local, exchange.localOffer] {
      if let ufrag = description?.anyUfrag { offerRequest.restart(replacing: ufrag) }
    }
    updateNegotiationNeeded(at: now)
  }

  public func createAnswer() throws(NegotiationError) -> String {
    describe(transport.ice.localParameters)
    return try negotiator.createAnswer().text
  }

  /// Applies our own description, and begins to gather candidates on the given addresses the first time.
  ///
  /// - Parameters:
  ///   - kind: offer or answer.
  ///   - sdp: the description, as the core has made it.
  ///   - addresses: transport addresses of sockets that are bound and feed `receive`.
  ///   - now: the present time.
  public func setLocalDescription(
    _ kind: DescriptionKind, _ sdp: String, addresses: [TransportAddress], at now: Instant
  ) throws(NegotiationError) {
    try negotiator.setLocalDescription(kind, .init(sdp: sdp))
    begin(isOfferer: kind == .offer, at: now)
    let parameters = offerRequest.takeParameters()
    if kind == .offer, let parameters {
      transport.restartICE(with: parameters, at: now)
      adoptCandidates()
    }
    published.invalidate()
    if gatheringState == .new {
      gatheringState = .gathering
      tell(.gatheringStateChanged(.gathering), at: now)
      transport.gather(on: addresses, at: now)
    }
    drain(at: now)
    settle(at: now)
  }

  /// Applies the other side's description. An offer that crosses one of ours rolls that back.
  public func setRemoteDescription(
    _ kind: DescriptionKind, _ sdp: String, at now: Instant
  ) throws(NegotiationError) {
    try negotiator.setRemoteDescription(kind, .init(sdp: sdp))
    begin(isOfferer: kind == .answer, at: now)
    _ = offerRequest.takeParameters()
    published.invalidate()
    drain(at: now)
    settle(at: now)
  }

  /// Gives up the exchange under way (RFC 9429 §5.7). ICE goes back to the credentials that both sides know.
  public func rollback(at now: Instant) throws(NegotiationError) {
    try negotiator.rollback()
    _ = offerRequest.takeParameters()
    published.invalidate()
    drain(at: now)
    settle(at: now)
  }

  /// Tells the owner once where an offer of ours is wanted. Call it after changes to the negotiator's transceivers.
  public func updateNegotiationNeeded(at now: Instant) {
    guard negotiator.signalingState == .stable else { return }
    let isNeeded = negotiator.isNegotiationNeeded || offerRequest.wantsRestart
    if offerRequest.fires(isNeeded: isNeeded) { tell(.negotiationNeeded, at: now) }
  }

  /// Takes the candidates of now into descriptions: a new generation has none of addresses that are gone.
  func adoptCandidates() {
    negotiator.localCandidates = transport.gathered.filter { !$0.isGone }
      .map(\.candidate.description)
    if transport.gatherer.isGathering { negotiator.endOfLocalCandidates = false }
  }

  private func describe(_ parameters: ICEParameters) {
    negotiator.configuration.iceUfrag = parameters.ufrag
    negotiator.configuration.icePassword = parameters.password
  }

  /// What WebRTC §4.4.1.5 does where a description has led to the stable state.
  private func settle(at now: Instant) {
    publish(at: now)
    guard negotiator.signalingState == .stable else { return }
    offerRequest.agreed(on: negotiator.exchange.inForce?.local.anyUfrag)
    updateNegotiationNeeded(at: now)
  }
}

extension SessionDescription {
  /// The one of its transport: all sections share one.
  fileprivate var anyUfrag: String? { media.lazy.compactMap(\.iceUfrag).first ?? iceUfrag }

  /// Parses a description; what is wrong with it becomes a negotiation error.
  fileprivate init(sdp: String) throws(NegotiationError) {
    do throws(SDPError) {
      try self.init(parsing: sdp)
    } catch {
      throw .malformed(error)
    }
  }
}
