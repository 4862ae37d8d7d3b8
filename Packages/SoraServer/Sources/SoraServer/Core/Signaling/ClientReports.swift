import SoraMedia
import SoraSignalingMessages

/// What a client's last statistics said. Kept as text, so that it takes the memory that it has bytes, and no more than so many.
struct ClientReports {
  static let maximumSize = 256 * 1024
  private(set) var text: [UInt8] = []
  /// nil where there was none.
  private(set) var receivedAt: Instant?

  /// - Returns: whether it was taken; one that is too large isn't.
  mutating func take(_ reports: [JSONValue], at now: Instant) -> Bool {
    let bytes = JSONValue.array(reports).bytes
    guard bytes.count <= Self.maximumSize else { return false }
    text = bytes
    receivedAt = now
    return true
  }
}
