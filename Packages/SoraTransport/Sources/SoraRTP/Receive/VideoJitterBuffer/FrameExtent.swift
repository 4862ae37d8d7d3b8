/// A frame's packets by their sequence numbers: how far they reach, and how far its bytes go on without a gap.
package struct FrameExtent {
  /// The lowest and highest that belong to the frame, as far as seen.
  private(set) var lowest: Int64
  package private(set) var highest: Int64
  /// The first packet of the frame has arrived: `first` and `next` count.
  package private(set) var isStarted = false
  package private(set) var first: Int64 = 0
  /// What has to arrive next for the bytes to go on.
  package private(set) var next: Int64 = 0
  /// The last packet of the frame, known by its marker.
  private var end: Int64?

  package init(_ sequence: Int64) {
    lowest = sequence
    highest = sequence
  }

  /// A packet of the frame has come.
  mutating func insert(_ sequence: Int64, isEnd: Bool) {
    lowest = min(lowest, sequence)
    highest = max(highest, sequence)
    if isEnd { end = sequence }
  }

  /// The frame begins with this packet.
  package mutating func start(at sequence: Int64) {
    isStarted = true
    first = sequence
    next = sequence
  }

  /// It begins earlier than was known.
  mutating func grow(to first: Int64) { self.first = first }

  /// The packet that was next has come.
  package mutating func advance() { next += 1 }

  /// Whether nothing that was seen lies behind a gap.
  var hasNoGap: Bool { next > highest }

  /// Whether all of it is there. Without a marker, the beginning of the next frame shows the end of this one.
  func isWhole(before following: FrameExtent?) -> Bool {
    guard isStarted else { return false }
    if let end { return next > end }
    guard let following else { return false }
    return following.isStarted && following.first == next
  }
}
