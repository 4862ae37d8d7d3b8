package import SoraSDP

/// The descriptions of a connection, in force ("current" in WebRTC §4.4) and under way ("pending"), and the signaling state that
/// follows from them (RFC 9429 §3.2).
package struct DescriptionExchange {
  package enum Side {
    case local
    case remote
  }

  /// What an answer has put into force.
  package struct Agreement {
    package let local: SessionDescription
    /// With the candidates that came later.
    package fileprivate(set) var remote: SessionDescription
    package let isLocalOffer: Bool
    package let session: NegotiatedSession
  }

  /// An offer that was set and isn't answered.
  private struct Offer {
    let side: Side
    var description: SessionDescription
    let rollback: RollbackPoint
  }

  /// A description of ours that wasn't set yet, with the use of each of its sections.
  private struct Created {
    let kind: DescriptionKind
    let description: SessionDescription
    let uses: [MediaSection.Use]
  }

  package private(set) var inForce: Agreement?
  private var offer: Offer?
  private var created: Created?
  private var isClosed = false

  package init() {}

  package var signalingState: SignalingState {
    if isClosed { return .closed }
    return switch offer?.side {
    case .none: .stable
    case .local: .haveLocalOffer
    case .remote: .haveRemoteOffer
    }
  }

  /// Our offer that is under way.
  package var localOffer: SessionDescription? {
    offer?.side == .local ? offer?.description : nil
  }

  /// The peer's offer that is under way.
  package var remoteOffer: SessionDescription? {
    offer?.side == .remote ? offer?.description : nil
  }

  /// Our description, under way or in force.
  package var local: SessionDescription? { localOffer ?? inForce?.local }

  /// The peer's description, under way or in force.
  package var remote: SessionDescription? { remoteOffer ?? inForce?.remote }

  /// What ``local`` is.
  package var localKind: DescriptionKind {
    localOffer != nil || inForce?.isLocalOffer == true ? .offer : .answer
  }

  /// What ``remote`` is.
  package var remoteKind: DescriptionKind {
    remoteOffer != nil || inForce?.isLocalOffer != true ? .offer : .answer
  }

  /// Where a rollback of the offer under way leads.
  package var rollbackPoint: RollbackPoint? { offer?.rollback }

  // MARK: Transitions

  /// Throws where the signaling state doesn't allow to set such a description (RFC 9429 §5.5, §5.6).
  package func checkSetting(_ kind: DescriptionKind, of side: Side) throws(NegotiationError) {
    switch (kind, side, signalingState) {
    case (.offer, .local, .stable), (.offer, .local, .haveLocalOffer),
      (.answer, .local, .haveRemoteOffer),
      (.offer, .remote, .stable), (.offer, .remote, .haveLocalOffer),
      (.offer, .remote, .haveRemoteOffer), (.answer, .remote, .haveLocalOffer):
      return
    default:
      throw .invalidState(
        operation: side == .local ? "setLocalDescription" : "setRemoteDescription",
        state: signalingState)
    }
  }

  /// Remembers a description that was made; only the last one can be set.
  package mutating func create(
    _ kind: DescriptionKind, _ description: SessionDescription, uses: [MediaSection.Use]
  ) {
    created = Created(kind: kind, description: description, uses: uses)
  }

  /// Whether the description that was made last, and that isn't set, has a section for a transceiver.
  package func hasCreated(_ transceiver: JSEPTransceiver) -> Bool {
    created?.uses.contains {
      if case .media(let used) = $0 { used === transceiver } else { false }
    } ?? false
  }

  /// The uses of the sections of the description that was made last, which `description` has to be but for changed lines.
  package func uses(of kind: DescriptionKind, _ description: SessionDescription)
    throws(NegotiationError) -> [MediaSection.Use]
  {
    guard let created, created.kind == kind else {
      throw .notCreatedHere(detail: "no \(kind.rawValue) was created for this state")
    }
    do { try description.validate() } catch { throw .malformed(error) }
    guard description.media.count == created.description.media.count else {
      throw .notCreatedHere(detail: "the number of sections differs")
    }
    for (index, pair) in zip(description.media, created.description.media).enumerated() {
      guard pair.0.mid == pair.1.mid, pair.0.kind == pair.1.kind else {
        throw .notCreatedHere(detail: "section \(index) has another mid or kind")
      }
    }
    return created.uses
  }

  /// An offer is set. One that was under way has to be rolled back before.
  package mutating func begin(
    _ side: Side, _ description: SessionDescription, rollback: RollbackPoint
  ) {
    offer = Offer(side: side, description: description, rollback: rollback)
    created = nil
  }

  /// Gives up the offer under way (RFC 9429 §5.7).
  ///
  /// - Returns: what was before it; nil with none under way.
  package mutating func rollBack() -> RollbackPoint? {
    guard let offer else { return nil }
    self.offer = nil
    created = nil
    return offer.rollback
  }

  /// The offer under way is answered.
  package mutating func complete(
    local: SessionDescription, remote: SessionDescription, isLocalOffer: Bool,
    session: NegotiatedSession
  ) {
    inForce = Agreement(
      local: local, remote: remote, isLocalOffer: isLocalOffer, session: session)
    offer = nil
    created = nil
  }

  /// Descriptions stay readable; none can be set any more.
  package mutating func close() { isClosed = true }

  // MARK: Candidates

  /// Writes a candidate that arrived by itself into the peer's description. An empty text ends the candidates.
  /// - Returns: whether it is for our transport and should be given to ICE.
  package mutating func addRemoteCandidate(_ text: String, mid: String?, mLineIndex: Int?)
    throws(NegotiationError) -> Bool
  {
    guard var remote else {
      throw .invalidState(operation: "addRemoteCandidate", state: signalingState)
    }
    let index: Int
    if let mid, !mid.isEmpty {
      guard let found = remote.index(ofMid: mid) else { throw .unknownSection("\"\(mid)\"") }
      index = found
    } else {
      index = mLineIndex ?? 0
    }
    guard remote.media.indices.contains(index) else { throw .unknownSection("\(index)") }
    guard !remote.media[index].isRejected else { return false }
    if text.isEmpty {
      remote.media[index].endOfCandidates = true
    } else if remote.media[index].candidates.count < SessionTransport.maximumCandidates {
      let body = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
      guard !remote.media[index].candidates.contains(body) else { return true }
      remote.media[index].append(
        attribute: "candidate",
        body.hasPrefix("candidate:") ? String(body.dropFirst(10)) : body)
    } else {
      return false
    }
    if offer?.side == .remote { offer?.description = remote } else { inForce?.remote = remote }
    return true
  }
}
