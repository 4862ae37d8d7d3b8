/// Groups packets that were sent in one burst and compares neighbouring groups
/// (draft-ietf-rmcat-gcc-02 §5.1 and §5.2). Times in nanoseconds.
struct InterArrival {
  /// How a group differs from the one before.
  struct Difference {
    var sendDelta: Int64
    var arrivalDelta: Int64
  }

  private struct Group {
    var firstSend: Int64
    var lastSend: Int64
    var firstArrival: Int64
    var lastArrival: Int64
  }

  /// Packets sent within this time are one group (§5.2).
  private static let burst: Int64 = 5_000_000
  /// A burst that the network made of several groups is cut after this time.
  private static let longestBurst: Int64 = 100_000_000
  /// A jump of the receiver's clock, not of the network.
  private static let clockJump: Int64 = 3_000_000_000

  private var current: Group?
  private var previous: Group?
  private var backwards = 0

  /// Takes a packet that arrived; returns a comparison when it begins a new group and two are complete.
  mutating func add(sent: Int64, arrived: Int64) -> Difference? {
    guard var group = current else {
      current = Group(firstSend: sent, lastSend: sent, firstArrival: arrived, lastArrival: arrived)
      return nil
    }
    // Older than the group: it says nothing about the queue now.
    if sent < group.firstSend { return nil }
    if belongs(sent, arrived, to: group) {
      group.lastSend = max(group.lastSend, sent)
      group.lastArrival = max(group.lastArrival, arrived)
      current = group
      return nil
    }
    var result: Difference?
    if let previous {
      let sendDelta = group.lastSend &- previous.lastSend
      let arrivalDelta = group.lastArrival &- previous.lastArrival
      if arrivalDelta < 0 {
        backwards += 1
        if backwards >= 3 { self = InterArrival() }
        if current == nil { return add(sent: sent, arrived: arrived) }
      } else if abs(arrivalDelta &- sendDelta) > Self.clockJump {
        self = InterArrival()
        return add(sent: sent, arrived: arrived)
      } else {
        backwards = 0
        result = Difference(sendDelta: sendDelta, arrivalDelta: arrivalDelta)
      }
    }
    previous = group
    current = Group(firstSend: sent, lastSend: sent, firstArrival: arrived, lastArrival: arrived)
    return result
  }

  private func belongs(_ sent: Int64, _ arrived: Int64, to group: Group) -> Bool {
    if sent &- group.firstSend <= Self.burst { return true }
    // §5.2: what comes faster than it was sent waited somewhere and came out together.
    let arrivalDelta = arrived &- group.lastArrival
    let propagationDelta = arrivalDelta &- (sent &- group.lastSend)
    return propagationDelta < 0 && arrivalDelta <= Self.burst
      && arrived &- group.firstArrival < Self.longestBurst
  }
}
