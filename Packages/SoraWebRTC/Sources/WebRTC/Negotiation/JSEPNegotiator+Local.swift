public import SoraSDP

/// Applying our own descriptions, and rollback (RFC 9429 §5.5, §5.7, §5.9).
extension JSEPNegotiator {
  /// Applies the description that ``createOffer()`` or ``createAnswer()`` returned last.
  ///
  /// Lines may have been changed in between, but not the number, order and mids of the sections.
  public func setLocalDescription(_ kind: DescriptionKind, _ description: SessionDescription)
    throws(NegotiationError)
  {
    switch (kind, signalingState) {
    case (.offer, .stable), (.offer, .haveLocalOffer), (.answer, .haveRemoteOffer): break
    default: throw .invalidState(operation: "setLocalDescription", state: signalingState)
    }
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
    switch kind {
    case .offer: applyLocalOffer(description, uses: created.uses)
    case .answer:
      guard let offer = pendingRemote else { return }
      let setup = description.media.first { !$0.isRejected }?.setup
      try finishExchange(local: description, remote: offer, isOfferer: false, setup: setup)
    }
    self.created = nil
  }

  private func applyLocalOffer(_ description: SessionDescription, uses: [Slot.Use]) {
    if signalingState == .haveLocalOffer { returnToSnapshot() }
    takeSnapshot()
    for (index, section) in description.media.enumerated() {
      let mid = section.mid ?? ""
      let new = Slot(section, mid: mid, use: uses[index])
      if let old = slots[safe: index]?.transceiver, old !== new.transceiver { displace(old) }
      if index < slots.count { slots[index] = new } else { slots.append(new) }
      new.transceiver?.mid = mid
      new.transceiver?.mLineIndex = index
    }
    numbers.reserve(description)
    pendingLocal = description
    setState(.haveLocalOffer)
  }

  /// Gives up the exchange under way and returns to the stable state before it (RFC 9429 §5.7).
  public func rollback() throws(NegotiationError) {
    guard signalingState == .haveLocalOffer || signalingState == .haveRemoteOffer else {
      throw .invalidState(operation: "rollback", state: signalingState)
    }
    returnToSnapshot()
    setState(.stable)
    emit(.rolledBack)
    publishRemoteTracks()
  }

  func takeSnapshot() {
    snapshot = Snapshot(
      slots: slots, transceivers: transceivers.map { ($0, $0.saved) }, numbers: numbers)
  }

  /// Restores what the descriptions changed; what the application changed in the meantime stays.
  func returnToSnapshot() {
    guard let snapshot else { return }
    slots = snapshot.slots
    numbers = snapshot.numbers
    let known = Set(snapshot.transceivers.map { ObjectIdentifier($0.0) })
    for (transceiver, saved) in snapshot.transceivers where !transceiver.isStopped {
      transceiver.restore(saved)
    }
    for transceiver in transceivers where !known.contains(ObjectIdentifier(transceiver)) {
      transceiver.mid = nil
      transceiver.mLineIndex = nil
      transceiver.isRemoteSending = false
      transceiver.receiver.streamIDs = []
      // RFC 9429 §5.7: one that the offer made goes, unless addTrack has taken it since.
      if transceiver.isFromRemoteOffer && !transceiver.sender.hasTrack {
        finishStopping(transceiver)
      }
      transceiver.isFromAddTrack = transceiver.isFromAddTrack || transceiver.isFromRemoteOffer
      transceiver.isFromRemoteOffer = false
    }
    self.snapshot = nil
    displaced = []
    pendingLocal = nil
    pendingRemote = nil
    created = nil
  }

  /// Takes a transceiver's section away; it stops when the exchange is complete.
  func displace(_ transceiver: JSEPTransceiver) {
    guard !transceiver.isStopped, !transceiver.isDisplaced else { return }
    transceiver.isDisplaced = true
    transceiver.mid = nil
    transceiver.mLineIndex = nil
    transceiver.isRemoteSending = false
    displaced.append(transceiver)
  }
}
