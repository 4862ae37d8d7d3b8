import SoraCluster
import SoraICE
import SoraSDP
import SoraSignaling
import SoraTransport
import SoraWire

// What requests of WHIP and WHEP do to the core. Confined to the loop.
extension ServerEngine {
  /// What a session's maker is told.
  struct MadeSession: Sendable {
    var id: String
    var answer: SFUOfferAnswer
    /// Values of `Link`.
    var links: [String]
  }

  /// - Parameters:
  ///   - address: the client's; nil where it isn't known.
  ///   - path: the request's.
  func open(
    _ message: ConnectMessage, from address: String?, path: String
  ) -> Result<SFUApplicant, WHIPProblem> {
    defer { schedule() }
    do throws(SFUOfferError) {
      return .success(
        try core.open(message, from: address.flatMap { ClientNetwork($0) }, at: loop.now))
    } catch {
      return .failure(problem(error, path: path))
    }
  }

  /// While the server drains, the client is to post again at the other one, where there is one (RFC 9725 §4.5).
  private func problem(_ error: SFUOfferError, path: String) -> WHIPProblem {
    if case .draining = error, let location = core.drainLocation {
      return .elsewhere(location, path: path)
    }
    return WHIPProblem(error)
  }

  /// - Parameters:
  ///   - path: the request's.
  ///   - authority: how the client names this host; nil if unknown.
  func answer(
    _ offer: SFUClientOffer, of applicant: SFUApplicant, _ grant: SFUGrant, token: String?,
    path: String, authority: String?
  ) -> Result<MadeSession, WHIPProblem> {
    defer {
      let channelID = applicant.connect.channelID
      cluster?.settle(channelID, isOccupied: core.sessionID(channelID: channelID) != nil)
      schedule()
    }
    do throws(SFUOfferError) {
      let answer = try core.answer(offer, of: applicant, grant, at: loop.now)
      let id = core.makeIdentifier()
      sessions.add(
        HTTPSession(
          purpose: offer.purpose, channelID: applicant.connect.channelID,
          connectionID: answer.connectionID, token: token.flatMap { SecretKey($0) }), as: id)
      return .success(
        MadeSession(
          id: id, answer: answer,
          links: iceServers.links(for: answer.connectionID, authority: authority)))
    } catch {
      return .failure(problem(error, path: path))
    }
  }

  /// The session that a request may change.
  ///
  /// - Parameter token: what the request shows.
  private func session(
    _ id: String, _ purpose: SFUClientOffer.Purpose, _ channelID: String, token: String?
  ) throws(WHIPProblem) -> HTTPSession {
    guard let session = sessions[id], session.purpose == purpose, session.channelID == channelID
    else { throw .notFound }
    guard session.admits(token) else {
      throw .unauthorized("ACCESS-TOKEN-INVALID", "send the token that made the session")
    }
    return session
  }

  /// Takes what a client trickles.
  ///
  /// - Parameters:
  ///   - fragment: what it sends.
  ///   - condition: which generation of ICE is meant.
  func trickle(
    _ fragment: SDPFragment, _ route: WHIPRoute, token: String?, if condition: HTTPIfMatch
  ) -> Result<SFUFragmentOutcome, WHIPProblem> {
    defer { schedule() }
    guard case .session(let purpose, let channelID, let id) = route else {
      return .failure(.notFound)
    }
    do throws(WHIPProblem) {
      let session = try session(id, purpose, channelID, token: token)
      guard let generation = core.iceGeneration(connectionID: session.connectionID) else {
        throw .notFound
      }
      guard condition.matches(generation) else { throw .otherGeneration }
      let outcome: SFUFragmentOutcome?
      do throws(SFUOfferError) {
        outcome = try core.receive(
          fragment, connectionID: session.connectionID, at: loop.now)
      } catch {
        throw WHIPProblem(error)
      }
      guard let outcome else { throw .notFound }
      return .success(outcome)
    } catch {
      return .failure(error)
    }
  }

  /// Ends a session.
  ///
  /// - Returns: nil where it has ended now.
  func end(_ route: WHIPRoute, token: String?) -> WHIPProblem? {
    defer { schedule() }
    guard case .session(let purpose, let channelID, let id) = route else { return .notFound }
    do throws(WHIPProblem) {
      let session = try session(id, purpose, channelID, token: token)
      core.leave(
        connectionID: session.connectionID, reason: "HTTP-DELETE", at: loop.now)
      return nil
    } catch {
      return error
    }
  }
}
