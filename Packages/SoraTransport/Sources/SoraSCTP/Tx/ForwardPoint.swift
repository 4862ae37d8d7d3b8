import SoraWire

/// How far the peer shall go over what was given up (RFC 3758 §3.5), and when it was told.
struct ForwardPoint {
  private(set) var point: Int64
  private var told: Int64
  private var toldAt: Int64 = 0
  private(set) var isDue = false

  init(cumulative: Int64) {
    point = cumulative
    told = cumulative
  }

  /// Moves on over what was given up. Tells again after a round trip, if the peer hasn't followed.
  mutating func update(_ outstanding: OutstandingData, roundTrip: Int64, at now: Int64) {
    point = max(point, outstanding.cumulative)
    while point < outstanding.last, outstanding.state(point + 1) == .abandoned { point += 1 }
    guard point > outstanding.cumulative else {
      isDue = false
      return
    }
    if point != told || now - toldAt >= max(roundTrip, 10_000_000) { isDue = true }
  }

  mutating func require(_ outstanding: OutstandingData) {
    isDue = point > outstanding.cumulative
  }

  private struct Skipped {
    var stream: UInt16
    var isUnordered: Bool
    var number: UInt32
  }

  /// Writes FORWARD-TSN (RFC 3758 §3.2) or I-FORWARD-TSN (RFC 8260 §2.3.1). Where its streams don't fit into a packet, it goes less far.
  mutating func write(
    into packet: inout PacketWriter, limit: Int, _ outstanding: OutstandingData,
    _ messages: MessageStore, interleaving: Bool, at now: Int64
  ) {
    let entry = interleaving ? 8 : 4
    let capacity = (packet.room(limit) - 8) / entry
    guard capacity >= 1 else { return }
    var skipped: [Skipped] = []
    var end = outstanding.cumulative
    while end < point {
      let slot = outstanding.record(end + 1).message
      let message = (messages[slot].stream, messages[slot].isUnordered, messages[slot].number)
      if interleaving || !message.1 {
        if let known = skipped.firstIndex(where: {
          $0.stream == message.0 && $0.isUnordered == message.1
        }) {
          skipped[known].number = message.2
        } else {
          guard skipped.count < capacity else { break }
          skipped.append(Skipped(stream: message.0, isUnordered: message.1, number: message.2))
        }
      }
      end += 1
    }
    packet.append(
      interleaving ? ChunkType.interleavedForwardTSN : ChunkType.forwardTSN, flags: 0,
      length: 8 + entry * skipped.count
    ) { memory, start in
      memory.put32(TSN.wire(end), at: start)
      var offset = start + 4
      for stream in skipped {
        memory.put16(stream.stream, at: offset)
        if interleaving {
          memory.put16(stream.isUnordered ? 1 : 0, at: offset + 2)
          memory.put32(stream.number, at: offset + 4)
        } else {
          memory.put16(UInt16(truncatingIfNeeded: stream.number), at: offset + 2)
        }
        offset += entry
      }
    }
    told = point
    toldAt = now
    isDue = false
  }
}
