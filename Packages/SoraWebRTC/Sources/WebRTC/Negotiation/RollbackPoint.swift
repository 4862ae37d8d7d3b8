/// What an offer has changed by being set, as it was before: the state that a rollback returns to (RFC 9429 §5.7).
package struct RollbackPoint {
  let sections: MediaSections
  let numbers: RTPSessionNumbers
  private let transceivers: [(transceiver: JSEPTransceiver, saved: JSEPTransceiver.Saved)]

  package init(
    sections: MediaSections, numbers: RTPSessionNumbers, transceivers: [JSEPTransceiver]
  ) {
    self.sections = sections
    self.numbers = numbers
    self.transceivers = transceivers.map { ($0, $0.saved) }
  }

  /// Gives transceivers back what descriptions changed; what the application changed in the meantime stays.
  ///
  /// - Parameter all: the transceivers there are now.
  /// - Returns: those that the offer made and that nobody wants; they are to be stopped.
  func restore(_ all: [JSEPTransceiver]) -> [JSEPTransceiver] {
    let known = Set(transceivers.map { ObjectIdentifier($0.transceiver) })
    for (transceiver, saved) in transceivers where !transceiver.isStopped {
      transceiver.restore(saved)
    }
    var unwanted: [JSEPTransceiver] = []
    for transceiver in all where !known.contains(ObjectIdentifier(transceiver)) {
      transceiver.negotiation.dissociate()
      // One that the offer made goes, unless addTrack has taken it since.
      if transceiver.isFromRemoteOffer && !transceiver.sender.hasTrack {
        unwanted.append(transceiver)
      }
      transceiver.isFromAddTrack = transceiver.isFromAddTrack || transceiver.isFromRemoteOffer
      transceiver.isFromRemoteOffer = false
    }
    return unwanted
  }
}
