import SoraWire

/// The names of servers: those that are being resolved, and what came of those that were.
struct ServerNames {
  /// What is known of a server's addresses.
  enum Lookup {
    case addresses([IPAddress])
    /// Nobody has asked for the name yet.
    case unasked(name: String)
    case resolving
  }

  private var resolving: Set<String> = []
  private var resolved: [String: [IPAddress]] = [:]

  var isResolving: Bool { !resolving.isEmpty }

  /// The addresses of a host. A name that is told as unasked counts as asked for from then on.
  mutating func look(up host: ICEHostAddress) -> Lookup {
    switch host {
    case .ip(let ip): return .addresses([ip])
    case .name(let name):
      if let addresses = resolved[name] { return .addresses(addresses) }
      return resolving.insert(name).inserted ? .unasked(name: name) : .resolving
    }
  }

  /// Notes what a name was resolved to. Returns false where nobody asked for it.
  mutating func resolved(_ name: String, to addresses: [IPAddress]) -> Bool {
    guard resolving.remove(name) != nil else { return false }
    resolved[name] = addresses
    return true
  }

  /// Names without an address may have one by now.
  mutating func forgetFailures() { resolved = resolved.filter { !$0.value.isEmpty } }
}
