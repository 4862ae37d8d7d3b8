import SoraMedia

/// One direction of a channel: what is under way on it, in order.
final class MessagePipe {
  enum Item {
    case text(String)
    case close(Int, String)
  }

  /// Its place among those of the network.
  let index: Int32
  /// Takes what arrives.
  var onArrival: ((Item) -> Void)?
  private var waiting: [Item] = []
  private var latest: Int64 = .min

  init(index: Int32) { self.index = index }

  /// An item sets out.
  ///
  /// - Returns: when it arrives, in nanoseconds: not before those that were sent before it.
  func send(_ item: Item, _ delay: Duration, at now: Instant) -> Int64 {
    latest = max(latest, now.nanoseconds + max(0, delay.wholeNanoseconds))
    waiting.append(item)
    return latest
  }

  /// Takes out the item that arrives next; nil where none is under way.
  func next() -> Item? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
