public import SoraMedia
public import SoraWire

/// Asks the link for the addresses of a name under `.local`: a one-shot query of RFC 6762 §5.1, as peers that hide their addresses behind
/// such names want it. Sans-I/O.
public struct MulticastDNS {
  /// Where queries go (RFC 6762 §3).
  public static let groupV4 = TransportAddress(ip: IPAddress(v4: 0xE000_00FB), port: 5353)

  /// Whether a name is one to ask the link for.
  public static func isLocal(_ name: String) -> Bool {
    let lower = name.lowercased()
    return lower.hasSuffix(".local") || lower.hasSuffix(".local.")
  }

  private let name: String
  private let id: UInt16
  private let query: [UInt8]
  private var transmissions = 0
  /// When to ask again, or to give up; `nil` before the first time and after the last.
  public private(set) var nextDeadline: Instant?
  private static let maximumTransmissions = 4

  /// `nil` where the name can't be asked for.
  public init?(_ name: String, random: RandomSource) {
    let lower = name.lowercased()
    self.name = lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    // RFC 6762 §6.7: a query from another port than 5353 is answered to where it came from, with its id.
    id = UInt16(truncatingIfNeeded: random.next())
    guard let query = DNSMessage(id: id, questions: [self.name]).encoded() else { return nil }
    self.query = query
  }

  /// What the present asks for.
  public enum Due: Hashable, Sendable {
    case nothing
    /// Send this to the group, from every interface.
    case send([UInt8])
    /// Nobody has answered.
    case giveUp
  }

  /// Says what to do now: after it was made, and when `nextDeadline` has come.
  public mutating func poll(at now: Instant) -> Due {
    if let nextDeadline, nextDeadline > now { return .nothing }
    guard transmissions < Self.maximumTransmissions else {
      nextDeadline = nil
      return .giveUp
    }
    // Answers are delayed by up to 120 ms (§6); the waits grow from 250 ms.
    nextDeadline = now + .milliseconds(250 << transmissions)
    transmissions += 1
    return .send(query)
  }

  /// Takes a datagram that came to the query's port. Returns the name's first address in it.
  public func receive(_ bytes: RawSpan) -> IPAddress? {
    guard let message = try? DNSMessage(parsing: bytes), message.isResponse,
      message.id == id || message.id == 0
    else { return nil }
    return message.addresses.first { record in
      record.name == name && record.timeToLive > 0 && !record.address.isMulticast
        && !record.address.isUnspecified
    }?.address
  }
}
