import SoraSignalingMessages

/// Which layers of others' simulcasts a client asks for. Plain memory.
struct LayerWishes {
  /// nil for the highest that the link has room for.
  private var wishes: SenderWishes<SignalingRid?>
  /// Whether anything was asked for since `connect`.
  private(set) var hasChanged = false

  init(_ standard: SignalingRid?) { wishes = SenderWishes(standard) }

  subscript(sender: String) -> SignalingRid? { wishes[sender] }

  /// Asks for a layer of one sender, or of all where none is named.
  mutating func set(_ rid: SignalingRid, of sender: String?) {
    hasChanged = true
    wishes.set(rid, of: sender)
  }

  /// A sender is gone.
  mutating func forget(_ sender: String) { wishes.forget(sender) }
}
