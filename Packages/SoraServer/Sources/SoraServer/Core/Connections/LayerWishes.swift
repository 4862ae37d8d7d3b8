import SoraSignalingMessages

/// Which layers of others' simulcasts a client asks for. Plain memory.
struct LayerWishes {
  /// Of all whose layer isn't asked for by name; nil for the highest that the link has room for.
  private(set) var standard: SignalingRid?
  private var bySender: [String: SignalingRid] = [:]
  /// Whether anything was asked for since `connect`.
  private(set) var hasChanged = false

  init(_ standard: SignalingRid?) { self.standard = standard }

  subscript(sender: String) -> SignalingRid? { bySender[sender] ?? standard }

  /// Asks for a layer of one sender, or of all where none is named.
  mutating func set(_ rid: SignalingRid, of sender: String?) {
    hasChanged = true
    if let sender {
      bySender[sender] = rid
    } else {
      standard = rid
      bySender = [:]
    }
  }

  /// A sender is gone.
  mutating func forget(_ sender: String) { bySender[sender] = nil }
}
