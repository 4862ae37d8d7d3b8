public import SoraICE
public import SoraMedia

/// What signaling brings after the first description.
extension PeerTransport {
  /// Starts ICE over (RFC 8445 §9), also after it has failed: then the state becomes `.connecting`. Signal `ice.localParameters` and
  /// the candidates again, and `start` with the other side's new description. DTLS and SRTP go on with what they have agreed on;
  /// servers that have given nothing, or nothing any longer, are asked again.
  ///
  /// - Parameters:
  ///   - parameters: what `ice.makeParameters` gave; without it, new ones are made.
  ///   - now: the present time.
  public func restartICE(with parameters: ICEParameters? = nil, at now: Instant) {
    guard !isEnded else { return }
    ice.restart(with: parameters, at: now)
    servers.askAgain(for: ice, at: now)
    drain(at: now)
  }

  /// Takes back a restart that the other side hasn't agreed to; see `ICEAgent.rollBackRestart`.
  public func rollBackICE(at now: Instant) {
    guard !isEnded else { return }
    ice.rollBackRestart(at: now)
    drain(at: now)
  }

  /// Adds a candidate of the other side, from its description or trickled.
  public func addRemoteCandidate(_ candidate: ICECandidate, at now: Instant) {
    guard !isEnded else { return }
    // First: the check goes right behind the request that lets it through.
    servers.permit(candidate, at: now)
    ice.addRemoteCandidate(candidate)
    drain(at: now)
  }

  /// Says that the other side has no more candidates (RFC 8838 §13).
  public func endOfRemoteCandidates(at now: Instant) {
    ice.endOfRemoteCandidates()
    drain(at: now)
  }
}
