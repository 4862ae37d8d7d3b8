import SoraICE
public import SoraMedia
public import SoraSDP
public import SoraSignalingMessages
import SoraTransport
public import SoraWire

/// The answer to a client's offer.
public struct SFUOfferAnswer: Sendable, Hashable {
  public var connectionID: String
  public var sdp: String
  /// Names the credentials of ICE that hold now: another after each restart.
  public var generation: String
}

/// What came of a fragment of a client's.
public enum SFUFragmentOutcome: Sendable, Hashable {
  /// Its candidates are known now.
  case taken
  /// ICE starts over; what to tell the client, and the name of the new generation.
  case restarted(SDPFragment, generation: String)
}

// Clients without a WebSocket, that bring an offer of their own and end by another request. They are connections like others: in
// notifications and webhooks, in limits, in recordings and in the API.
extension SFUCore {
  /// Takes a client that somebody else decides about: `answer` or `refuse` must follow.
  ///
  /// - Parameters:
  ///   - message: what it asks for, as `SFUClientOffer.connect` gives it.
  ///   - network: where it comes from; nil where that isn't known.
  ///   - now: the present time.
  /// - Throws: `refused`, `full` or `draining`.
  public func open(
    _ message: ConnectMessage, from network: ClientNetwork? = nil, at now: Instant
  ) throws(SFUOfferError) -> SFUApplicant {
    defer { deliver(at: now) }
    // First: another server may have the room that this one lacks.
    guard !isDraining else { throw .draining }
    do throws(SFUObjection) {
      _ = try SFUConnectRequest(message)
      // Nobody goes before it is decided that it may come.
      try checkRoom(in: message.channelID, for: network)
    } catch {
      throw .refused(error.reason)
    }
    guard let peer = accept(from: network, at: now) else { throw .full }
    guard let applicant = examine(message, of: peer, at: now) else { throw .draining }
    return applicant
  }

  /// Connects a client that was let in, and answers its offer.
  ///
  /// - Parameters:
  ///   - offer: the client's.
  ///   - applicant: what `open` gave.
  ///   - grant: what was decided.
  ///   - now: the present time.
  /// - Throws: why it gets no answer; the client is forgotten then.
  public func answer(
    _ offer: SFUClientOffer, of applicant: SFUApplicant, _ grant: SFUGrant, at now: Instant
  ) throws(SFUOfferError) -> SFUOfferAnswer {
    defer { deliver(at: now) }
    let peer = applicant.peer
    do throws(SFUOfferError) {
      guard isUnconnected(peer), !isDraining else { throw .draining }
      let request: SFUConnectRequest
      do throws(SFUObjection) {
        request = try SFUConnectRequest(applicant.connect, grant)
        try makeRoom(in: request.channelID, for: clients.network(of: peer), at: now)
      } catch {
        throw .refused(error.reason)
      }
      try offer.check(request)
      let connection = enter(request, offer, of: peer, at: now)
      let sdp = connection.answer(offer, at: now)
      touch(connection)
      return SFUOfferAnswer(
        connectionID: connection.connectionID, sdp: sdp,
        generation: connection.transport.ice.localParameters.ufrag)
    } catch {
      if isUnconnected(peer) { refuse(peer, .refused("\(error)"), at: now) }
      throw error
    }
  }

  /// Names the credentials of ICE that a connection has now; nil where there is no such connection.
  public func iceGeneration(connectionID: String) -> String? {
    connection(id: connectionID)?.transport.ice.localParameters.ufrag
  }

  /// Takes candidates of a client, or starts ICE over where the credentials are others (RFC 9725 §4.3).
  ///
  /// - Parameters:
  ///   - fragment: what the client sent.
  ///   - connectionID: the client's connection.
  ///   - now: the present time.
  /// - Returns: nil where there is no such connection.
  /// - Throws: `malformed`.
  public func receive(
    _ fragment: SDPFragment, connectionID: String, at now: Instant
  ) throws(SFUOfferError) -> SFUFragmentOutcome? {
    defer { deliver(at: now) }
    guard let connection = connection(id: connectionID) else { return nil }
    defer { touch(connection) }
    guard let answer = try connection.take(fragment, at: now) else { return .taken }
    return .restarted(answer, generation: connection.transport.ice.localParameters.ufrag)
  }

  /// Ends the connection of a client that goes.
  ///
  /// - Returns: whether it was there.
  @discardableResult
  public func leave(connectionID: String, reason: String, at now: Instant) -> Bool {
    defer { deliver(at: now) }
    guard let connection = connection(id: connectionID) else { return false }
    end(connection, nil, reason: reason, at: now)
    return true
  }
}
