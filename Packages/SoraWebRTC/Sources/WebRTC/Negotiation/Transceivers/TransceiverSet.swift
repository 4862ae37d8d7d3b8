import SoraMedia
import SoraSDP

/// The transceivers of a connection that are not stopped, in the order of their creation (RFC 9429 §3.4.1).
package struct TransceiverSet {
  package private(set) var list: [JSEPTransceiver] = []
  private var nextID = 0

  package init() {}

  /// Adds one that no section stands for yet.
  mutating func add(
    _ kind: MediaKind, direction: MediaDirection, sender: SenderDescription,
    receiverTrackID: String
  ) -> JSEPTransceiver {
    let transceiver = JSEPTransceiver(
      id: nextID, kind: kind, direction: direction, sender: sender,
      receiverTrackID: receiverTrackID)
    nextID += 1
    list.append(transceiver)
    return transceiver
  }

  /// The transceiver of a section.
  subscript(mid mid: String) -> JSEPTransceiver? { list.first { $0.mid == mid } }

  /// Those that the next offer gives sections.
  var withoutSection: [JSEPTransceiver] {
    list.filter { $0.mid == nil && !$0.isStopped && !$0.isStopping }
  }

  /// The first that a track may be given to: its sender has none and never sent (WebRTC §5.1 addTrack).
  func reusable(_ kind: MediaKind) -> JSEPTransceiver? {
    list.first {
      $0.kind == kind && !$0.isStopping && !$0.negotiation.isDisplaced && !$0.sender.hasTrack
        && !$0.hasEverSent
    }
  }

  /// The first that a section of the peer's offer may take: one that addTrack made and that has no section yet (RFC 9429 §5.10).
  func associable(_ kind: MediaKind) -> JSEPTransceiver? {
    list.first {
      $0.kind == kind && $0.isFromAddTrack && $0.mid == nil && !$0.isStopping
        && !$0.negotiation.isDisplaced
    }
  }

  /// Stops one for good and forgets it. False where it was stopped before.
  mutating func retire(_ transceiver: JSEPTransceiver) -> Bool {
    guard !transceiver.isStopped else { return false }
    transceiver.finishStopping()
    list.removeAll { $0 === transceiver }
    return true
  }
}
