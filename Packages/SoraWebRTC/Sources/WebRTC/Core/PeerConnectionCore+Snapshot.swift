import SoraICE
public import SoraMedia
public import SoraSDP
import SoraTransport

/// What the owner is told: a snapshot before every event that it explains, and after every call that changed something.
extension PeerConnectionCore {
  /// Tells the owner of an event, and of everything that has changed until then.
  func tell(_ event: PeerConnectionEvent, at now: Instant) {
    publish(at: now)
    delegate?.core(self, event: event, at: now)
  }

  /// Makes a snapshot where the last one is no longer true.
  func publish(at now: Instant) {
    guard published.isStale else { return }
    let before = snapshot.states.connection
    published.replace(with: makeSnapshot())
    delegate?.core(self, event: .updated(snapshot), at: now)
    let states = snapshot.states
    guard states.connection != before else { return }
    delegate?.core(
      self, event: .connectionStateChanged(states.connection, failure: states.failure), at: now)
  }

  private func makeSnapshot() -> PeerConnectionSnapshot {
    var made = PeerConnectionSnapshot()
    made.states = PeerConnectionSnapshot.States(
      signaling: negotiator.signalingState, gathering: gatheringState, ice: transport.iceState,
      dtls: transport.dtlsState,
      connection: PeerConnectionState(
        ice: transport.iceState, dtls: transport.dtlsState,
        hasFailed: transport.state.failure != nil, isClosed: transport.state == .closed),
      failure: transport.state.failure)
    made.transceivers = negotiator.transceivers.map(PeerConnectionSnapshot.Transceiver.init)
    made.localDescription = negotiator.describedLocally
    made.remoteDescription = negotiator.describedRemotely
    made.selectedPair = transport.ice.selectedPair
    made.rejectedSections = negotiator.rejectedSections
    return made
  }

  // MARK: Transceivers

  /// Adds a transceiver, for the next offer of ours; see `JSEPNegotiator.addTransceiver`.
  ///
  /// - Returns: its id.
  public func addTransceiver(
    _ kind: MediaKind, direction: MediaDirection = .sendrecv, trackID: String? = nil,
    streamIDs: [String] = [], at now: Instant
  ) -> Int {
    change(at: now) {
      negotiator.addTransceiver(
        kind, direction: direction, trackID: trackID, streamIDs: streamIDs
      ).id
    }
  }

  /// Gives a track to a transceiver that has never sent, or to a new one; see `JSEPNegotiator.addTrack`.
  ///
  /// - Returns: the transceiver's id.
  public func addTrack(
    _ kind: MediaKind, trackID: String, streamIDs: [String], at now: Instant
  ) -> Int {
    change(at: now) {
      negotiator.addTrack(kind, trackID: trackID, streamIDs: streamIDs).id
    }
  }

  /// Has a transceiver send a track from the next description on, or nothing any longer where there is no id.
  public func setTrack(
    _ trackID: String?, streamIDs: [String], transceiverID: Int, at now: Instant
  ) {
    guard let transceiver = transceiver(transceiverID) else { return }
    change(at: now) {
      if let trackID {
        negotiator.setTrack(of: transceiver, trackID, streamIDs: streamIDs)
      } else {
        negotiator.removeTrack(of: transceiver)
      }
    }
  }

  /// Sets what the next description says of a transceiver's direction.
  public func setDirection(_ direction: MediaDirection, transceiverID: Int, at now: Instant) {
    guard let transceiver = transceiver(transceiverID) else { return }
    change(at: now) { transceiver.direction = direction }
  }

  /// Stops a transceiver for good, with the next exchange.
  public func stop(transceiverID: Int, at now: Instant) {
    guard let transceiver = transceiver(transceiverID) else { return }
    change(at: now) { negotiator.stop(transceiver) }
  }

  /// Says which of a transceiver's encodings the application sends, for the next description to tell; those that aren't named stay.
  public func setEncodings(
    _ isActive: [(rid: String?, isActive: Bool)], transceiverID: Int, at now: Instant
  ) {
    guard let transceiver = transceiver(transceiverID) else { return }
    change(at: now) {
      for encoding in isActive {
        transceiver.setEncoding(rid: encoding.rid, isActive: encoding.isActive)
      }
    }
  }

  private func transceiver(_ id: Int) -> JSEPTransceiver? {
    negotiator.transceivers.first { $0.id == id }
  }

  private func change<Result>(at now: Instant, _ body: () -> Result) -> Result {
    let result = body()
    published.invalidate()
    drain(at: now)
    publish(at: now)
    updateNegotiationNeeded(at: now)
    return result
  }
}
