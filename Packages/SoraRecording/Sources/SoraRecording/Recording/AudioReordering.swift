import SoraMedia

/// A frame with its time on the recording's clock.
struct TimedFrame: Sendable {
  var frame: EncodedTrackFrame
  var time: Instant
}

/// Puts packets of audio that overtook each other back in order, and leaves out those that come twice.
struct AudioReordering {
  /// Packets that are later than this aren't waited for.
  private static let patience = Duration.milliseconds(100)

  /// In the order of their times.
  private var waiting: [TimedFrame] = []
  private var lastTaken: Instant?

  /// The time of the first packet that waits; nil where none does.
  var firstTime: Instant? { waiting.first?.time }

  /// Takes a packet. False where it came before, or too late.
  mutating func insert(_ packet: TimedFrame) -> Bool {
    // Times are followed slowly and may differ a little between two copies; packets are 2.5 ms apart at least.
    let tolerance = Duration.milliseconds(2)
    if let lastTaken, packet.time < lastTaken + tolerance { return false }
    let place = (waiting.lastIndex { $0.time <= packet.time } ?? -1) + 1
    for neighbour in [place - 1, place] where waiting.indices.contains(neighbour) {
      let other = waiting[neighbour]
      if other.frame.frame.rtpTimestamp == packet.frame.frame.rtpTimestamp { return false }
    }
    waiting.insert(packet, at: place)
    return true
  }

  /// The first packet, where one has come that is so much later that none is still waited for.
  mutating func takeDue() -> TimedFrame? {
    guard let first = waiting.first, let last = waiting.last,
      last.time - first.time >= Self.patience
    else { return nil }
    return takeFirst()
  }

  /// The first packet; nil where there is none.
  mutating func takeFirst() -> TimedFrame? {
    guard !waiting.isEmpty else { return nil }
    let first = waiting.removeFirst()
    lastTaken = max(lastTaken ?? first.time, first.time)
    return first
  }
}
