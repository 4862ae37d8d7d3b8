import SoraWire

/// Records whose keys may come: the peer's next epoch overtook what leads to it (RFC 9147 §4.2.1).
package struct LockedRecords {
  private static let limit = 16

  private var records: [[UInt8]] = []
  private var hasNewKeys = false

  package init() {}

  package var count: Int { records.count }

  /// Keeps a copy; `false` where there is no room for it.
  package mutating func keep(_ record: RawSpan) -> Bool {
    guard records.count < Self.limit else { return false }
    records.append([UInt8](copying: record))
    return true
  }

  /// There are keys that may open what is kept.
  package mutating func keysCame() { hasNewKeys = true }

  /// Gives away what new keys may open; nil where none came since, or nothing waits for them.
  package mutating func takeOpenable() -> [[UInt8]]? {
    defer { hasNewKeys = false }
    guard hasNewKeys, !records.isEmpty else { return nil }
    defer { records = [] }
    return records
  }
}
