package import SoraRTP

/// Finds the packets of audio in what a track receives with redundancy (RFC 2198): the newest of each payload, and copies of
/// those that were lost on their way. Plain memory.
package struct RedundantAudio: Sendable {
  /// A packet of a payload.
  package struct Packet: Sendable, Hashable {
    package var rtpTimestamp: UInt32
    /// Where it is in the payload.
    package var range: Range<Int>
  }

  /// Timestamps that have come, in a ring: more than a payload has copies.
  private var seen: [UInt32] = []
  private var next = 0
  private static let memory = 64

  package init() {}

  /// The packets of a payload that haven't come before, oldest first.
  ///
  /// - Parameter codec: the payload type of the packets inside.
  package mutating func packets(
    _ blocks: REDPayload.Blocks, timestamp: UInt32, codec: UInt8
  ) -> [Packet] {
    // Nobody waits for what came before the beginning.
    let isFirst = seen.isEmpty
    var found: [Packet] = []
    for block in blocks where block.payloadType == codec && !block.range.isEmpty {
      let time = timestamp &- UInt32(block.timestampOffset)
      guard note(time), !isFirst || block.isPrimary else { continue }
      found.append(Packet(rtpTimestamp: time, range: block.range))
    }
    return found
  }

  /// False for a timestamp that has come.
  private mutating func note(_ timestamp: UInt32) -> Bool {
    guard !seen.contains(timestamp) else { return false }
    if seen.count < Self.memory {
      seen.append(timestamp)
    } else {
      seen[next] = timestamp
      next = (next + 1) % Self.memory
    }
    return true
  }
}
