/// Which of a stream's packets the next probe repeats: the last ones that left, in turn.
struct PaddingCursor {
  /// The number of the packet that left last; nil before the first.
  private(set) var newest: UInt16?
  /// Packets back from the newest.
  private var back: UInt16 = 0

  mutating func packetLeft(_ number: UInt16) { newest = number }

  /// The number of the packet whose turn it is.
  mutating func next() -> UInt16? {
    guard let newest else { return nil }
    let number = newest &- back
    back = (back &+ 1) & 15
    return number
  }
}
