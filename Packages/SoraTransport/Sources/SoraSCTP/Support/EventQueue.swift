import SoraMedia

/// What waits for the reader.
final class EventQueue {
  private var events = Ring<SCTPEvent>()
  /// Bytes of messages that wait, with what keeping them costs.
  private(set) var messageBytes = 0
  /// Events that are no messages. Who would let a peer make more of them asks first.
  private(set) var otherCount = 0

  /// What a message costs besides its bytes.
  static let overhead = 64

  func append(_ event: SCTPEvent) {
    if case .message(let message) = event {
      messageBytes += message.payload.count + EventQueue.overhead
    } else {
      otherCount += 1
    }
    events.append(event)
  }

  func next() -> SCTPEvent? {
    guard let event = events.popFirst() else { return nil }
    if case .message(let message) = event {
      messageBytes -= message.payload.count + EventQueue.overhead
    } else {
      otherCount -= 1
    }
    return event
  }
}
