import SoraWire

/// Datagrams that came before they could be used, in bounded memory.
struct EarlyDatagrams {
  /// Nothing is larger than a path's MTU; what is isn't kept.
  private static let maximumSize = 2048

  private let limit: Int
  private var datagrams: [[UInt8]] = []

  init(limit: Int) { self.limit = limit }

  var count: Int { datagrams.count }

  /// Keeps a copy; `false` where there is no room for it.
  mutating func keep(_ datagram: RawSpan) -> Bool {
    guard datagrams.count < limit, datagram.byteCount <= Self.maximumSize else { return false }
    datagrams.append([UInt8](copying: datagram))
    return true
  }

  /// Gives what was kept away, in the order it came.
  mutating func take() -> [[UInt8]] {
    defer { datagrams = [] }
    return datagrams
  }
}
