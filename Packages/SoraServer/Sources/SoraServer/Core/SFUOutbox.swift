import SoraSignalingMessages

/// What comes out of a core, collected until it is at rest, so that who takes it may call the core.
final class SFUOutbox {
  enum Item {
    case output(SFUOutput, SFUPeerID)
    case event(SFUEvent)
    case report(SFUReport)
  }

  private var items: [Item] = []
  private var isDelivering = false
  /// The newest notification, while it may go to others, too.
  private var notice: (output: SFUOutput, written: WrittenMessage)?

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
    notice = nil
  }

  /// An output as a client gets it; nil for `close`, which is no message. A notification goes to everybody in a channel, to one after the
  /// other, and is written once.
  ///
  /// - Parameter write: makes a message of an output.
  func written(_ output: SFUOutput, _ write: (SFUOutput) -> SignalingMessage?) -> WrittenMessage? {
    if let notice, notice.output == output { return notice.written }
    guard let message = write(output) else { return nil }
    let written = WrittenMessage(message)
    if output.isNotification { notice = (output, written) }
    return written
  }
}
