import SoraMedia
import SoraWire

/// The addresses that may send to us through a relay, and when the server is asked again to let them (RFC 8656 §9).
struct TURNPermissions {
  private struct Permission {
    var isRefused = false
    /// When to ask again; nil while a request is under way.
    var refreshAt: Instant?
  }

  private var known: [IPAddress: Permission] = [:]
  /// The oldest first.
  private var order: [IPAddress] = []

  var count: Int { order.count }

  func contains(_ ip: IPAddress) -> Bool { known[ip] != nil }

  /// Whether the server relays to an address, as far as is known.
  func allows(_ ip: IPAddress) -> Bool { known[ip].map { !$0.isRefused } ?? false }

  /// Adds an address that the server is asked for now.
  mutating func insert(_ ip: IPAddress) {
    known[ip] = Permission()
    order.append(ip)
  }

  /// Makes room: forgets the oldest address that fits. False where none does.
  mutating func removeOldest(where fits: (IPAddress) -> Bool) -> Bool {
    guard let index = order.firstIndex(where: fits) else { return false }
    known[order.remove(at: index)] = nil
    return true
  }

  /// The server has agreed.
  mutating func install(_ ip: IPAddress, at now: Instant) {
    guard known[ip] != nil else { return }
    known[ip] = Permission(refreshAt: now + TURNLimits.permissionLifetime - .seconds(60))
  }

  mutating func refuse(_ ip: IPAddress) { known[ip]?.isRefused = true }

  /// The server hasn't answered.
  mutating func askAgain(_ ip: IPAddress, at instant: Instant) { known[ip]?.refreshAt = instant }

  /// The addresses that the server is to be asked for again now, the oldest first.
  mutating func takeDue(at now: Instant) -> [IPAddress] {
    var due: [IPAddress] = []
    for ip in order where known[ip]?.refreshAt.map({ $0 <= now }) ?? false {
      known[ip]?.refreshAt = nil
      due.append(ip)
    }
    return due
  }

  var nextDeadline: Instant? {
    known.values.reduce(nil) { earliest($0, $1.refreshAt) }
  }
}
