public import SoraSDP

/// Applying our own descriptions, and rollback (RFC 9429 §5.5, §5.7, §5.9).
extension JSEPNegotiator {
  /// Applies the description that ``createOffer()`` or ``createAnswer()`` returned last.
  ///
  /// Lines may have been changed in between, but not the number, order and mids of the sections.
  public func setLocalDescription(_ kind: DescriptionKind, _ description: SessionDescription)
    throws(NegotiationError)
  {
    try exchange.checkSetting(kind, of: .local)
    let uses = try exchange.uses(of: kind, description)
    switch kind {
    case .offer: applyLocalOffer(description, uses: uses)
    case .answer:
      guard let offer = exchange.remoteOffer else { return }
      let setup = description.media.first { !$0.isRejected }?.setup
      try finishExchange(local: description, remote: offer, isOfferer: false, setup: setup)
    }
  }

  private func applyLocalOffer(_ description: SessionDescription, uses: [MediaSection.Use]) {
    let isReplacing = exchange.localOffer != nil
    if isReplacing { returnToStable() }
    let before = rollbackPoint()
    for (index, section) in description.media.enumerated() {
      sections.set(index, to: section, mid: section.mid ?? "", use: uses[index])
    }
    numbers.reserve(description)
    exchange.begin(.local, description, rollback: before)
    finishStoppingWithoutSection()
    if !isReplacing { emit(.signalingStateChanged(.haveLocalOffer)) }
  }

  /// Gives up the exchange under way and returns to the stable state before it (RFC 9429 §5.7).
  public func rollback() throws(NegotiationError) {
    guard signalingState == .haveLocalOffer || signalingState == .haveRemoteOffer else {
      throw .invalidState(operation: "rollback", state: signalingState)
    }
    returnToStable()
    finishStoppingWithoutSection()
    emit(.signalingStateChanged(.stable))
    emit(.rolledBack)
    publishRemoteTracks()
  }

  /// What a rollback of the offer that is set next returns to.
  func rollbackPoint() -> RollbackPoint {
    RollbackPoint(sections: sections, numbers: numbers, transceivers: transceivers)
  }

  /// Restores what the offer under way has changed.
  func returnToStable() {
    guard let before = exchange.rollBack() else { return }
    sections = before.sections
    numbers = before.numbers
    for transceiver in before.restore(transceivers) { finishStopping(transceiver) }
  }
}
