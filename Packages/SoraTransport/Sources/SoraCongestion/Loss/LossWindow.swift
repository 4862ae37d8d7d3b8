/// Counts the packets that feedback names, half a second of them at a time.
struct LossWindow {
  /// What one window held.
  struct Counts {
    var packets: Int
    var lost: Int
    /// How many of these came right behind another.
    var following: Int

    /// Share of the packets that were lost, 0...1.
    var fraction: Double { Double(lost) / Double(packets) }
  }

  static let length: Int64 = 500_000_000
  private static let enoughPackets = 30

  // Since the latest window ended.
  private var lost = 0
  private var received = 0
  private var following = 0
  private var lastLost: Int64 = .min / 2
  private var start: Int64?
  private var highestReported: Int64 = -1

  /// Counts one packet of a feedback message.
  mutating func add(sequence: Int64, isLost: Bool) {
    let isNew = sequence > highestReported
    if isNew { highestReported = sequence }
    if isLost {
      guard isNew else { return }
      lost += 1
      if sequence == lastLost + 1 { following += 1 }
      lastLost = sequence
    } else {
      received += 1
      // Reported lost before, only late; maybe in the window before, which leaves a debt.
      if !isNew { lost -= 1 }
    }
  }

  /// Ends the window and begins the next one; nil where it is too short or holds too little.
  mutating func end(at now: Int64) -> Counts? {
    guard let start else {
      self.start = now
      return nil
    }
    let lost = max(0, self.lost)
    let count = lost + received
    guard now &- start >= Self.length, count >= Self.enoughPackets else { return nil }
    defer { (self.start, self.lost, received, following) = (now, 0, 0, 0) }
    return Counts(packets: count, lost: lost, following: following)
  }
}
