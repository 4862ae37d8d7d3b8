/// A connection's names and metadata, as others hear of them.
struct ConnectionIdentity {
  var peer: SFUNotification.Peer {
    didSet { size = peer.metadataSize }
  }
  /// Bytes of them as JSON: all members' are added up whenever somebody comes.
  private(set) var size: Int

  init(_ peer: SFUNotification.Peer) {
    self.peer = peer
    size = peer.metadataSize
  }
}
