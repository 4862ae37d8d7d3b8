/// The snapshot that the owner has, and whether it is still true.
struct PublishedSnapshot {
  /// As it was told last.
  private(set) var snapshot = PeerConnectionSnapshot()
  /// Whether anything in it may have changed since.
  private(set) var isStale = false

  mutating func invalidate() { isStale = true }

  mutating func replace(with snapshot: PeerConnectionSnapshot) {
    self.snapshot = snapshot
    isStale = false
  }
}
