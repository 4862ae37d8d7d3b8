/// Puts the peer's handshake messages together and in order (RFC 6347 §4.2.2, §4.2.3), in bounded memory.
struct Reassembly {
  /// Bytes of the largest message: a chain of certificates has a few thousand.
  static let messageLimit = 32_768
  /// How far ahead of the next message others are kept: more than any flight has.
  static let window: UInt16 = 10
  /// Bytes that all kept messages have together.
  static let memoryLimit = 65_536

  enum Outcome {
    /// A fragment of the next message, or of what comes right behind whole ones.
    case kept
    /// A fragment that leaves a gap before it.
    case keptOutOfOrder
    /// A message that was taken before.
    case old
    /// Too far ahead, too large, or in conflict with what is there.
    case dropped
  }

  private struct Slot {
    var type: UInt8
    var epoch: UInt64
    var bytes: [UInt8]
    var received = ByteRanges()
    var isWhole: Bool { received.covers(bytes.count) }
  }

  private var slots: [UInt16: Slot] = [:]
  private var reserved = 0
  /// The number of the message that is taken next.
  private var next: UInt16 = 0
  /// The number of the first message of the flight that the peer is sending.
  private var flightStart: UInt16 = 0

  /// Whether parts of messages wait for others.
  var hasPieces: Bool { !slots.isEmpty }

  /// What the peer sends from now on answers a flight of ours.
  mutating func beginFlight() { flightStart = next }

  /// Whether the peer repeats a flight of before with it.
  func isOfEarlierFlight(_ fragment: HandshakeFragment) -> Bool { fragment.sequence < flightStart }

  /// Whether it belongs to a message that was taken already.
  func isOld(_ fragment: HandshakeFragment) -> Bool { fragment.sequence < next }

  mutating func insert(_ fragment: HandshakeFragment, epoch: UInt64) -> Outcome {
    if isOld(fragment) { return .old }
    guard fragment.sequence - next < Self.window, fragment.length <= Self.messageLimit else {
      return .dropped
    }
    var slot: Slot
    if let known = slots[fragment.sequence] {
      // What better keys protect takes the place of what anybody could have sent.
      if epoch < known.epoch { return .dropped }
      if epoch > known.epoch {
        reserved -= known.bytes.count
        slots[fragment.sequence] = nil
        return insert(fragment, epoch: epoch)
      }
      guard known.type == fragment.type, known.bytes.count == fragment.length else {
        return .dropped
      }
      slot = known
    } else {
      guard reserved + fragment.length <= Self.memoryLimit else { return .dropped }
      reserved += fragment.length
      slot = Slot(
        type: fragment.type, epoch: epoch, bytes: [UInt8](repeating: 0, count: fragment.length))
    }
    slots[fragment.sequence] = nil
    let range = fragment.offset..<(fragment.offset + fragment.bytes.count)
    let isAccepted = slot.received.insert(range)
    if isAccepted { slot.bytes.replaceSubrange(range, with: fragment.bytes) }
    slots[fragment.sequence] = slot
    guard isAccepted else { return .dropped }
    return leavesGap(fragment) ? .keptOutOfOrder : .kept
  }

  private func leavesGap(_ fragment: HandshakeFragment) -> Bool {
    for sequence in next..<fragment.sequence where slots[sequence]?.isWhole != true { return true }
    return slots[fragment.sequence]?.received.ranges.first?.lowerBound ?? 0 != 0
  }

  /// The next message, if it is whole, and the epoch that protected it.
  mutating func take() -> (message: HandshakeMessage, epoch: UInt64)? {
    guard let slot = slots[next], slot.isWhole, next < .max else { return nil }
    slots[next] = nil
    reserved -= slot.bytes.count
    defer { next += 1 }
    return (HandshakeMessage(type: slot.type, sequence: next, body: slot.bytes), slot.epoch)
  }
}
