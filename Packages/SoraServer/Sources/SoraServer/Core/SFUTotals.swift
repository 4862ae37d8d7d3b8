/// What a server has done since it began, whether the connections are still there or not. Nothing here ever falls.
public struct SFUTotals: Sendable, Hashable {
  /// Connections that could carry media.
  public var connections: UInt64 = 0
  /// Clients that were turned away before.
  public var refusals: UInt64 = 0
  /// Datagrams of connections, and their bytes.
  public var packetsReceived: UInt64 = 0
  public var packetsSent: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var bytesSent: UInt64 = 0
  /// What was dropped, by the names of `SFUDropped`.
  public var dropped: [String: UInt64] = [:]

  public init() {}

  mutating func add(_ dropped: SFUDropped) {
    for (name, count) in dropped.byReason { self.dropped[name, default: 0] += count }
  }
}

extension SFUDropped {
  /// Each of its counts by its name.
  public var byReason: [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for child in Mirror(reflecting: self).children {
      guard let name = child.label, let count = child.value as? Int else { continue }
      counts[name] = UInt64(clamping: count)
    }
    return counts
  }
}
