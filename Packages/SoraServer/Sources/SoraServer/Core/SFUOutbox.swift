/// What comes out of a core, collected until it is at rest, so that who takes it may call the core.
final class SFUOutbox {
  enum Item {
    case output(SFUOutput, SFUPeerID)
    case event(SFUEvent)
    case report(SFUReport)
  }

  private var items: [Item] = []
  private var isDelivering = false

  var isEmpty: Bool { items.isEmpty }

  func append(_ item: Item) { items.append(item) }

  /// Hands out what has been collected, and what is collected meanwhile behind it. In the middle of a delivery it does nothing: that
  /// goes on.
  func deliver(_ body: (Item) -> Void) {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while !items.isEmpty {
      let batch = items
      items.removeAll(keepingCapacity: true)
      for item in batch { body(item) }
    }
  }
}
