/// The traffic secrets of 1.3 in use, the keys made of them, and what a KeyUpdate makes of both (RFC 8446 §7.2, RFC 9147 §8).
struct TrafficKeys {
  private let suite: DTLSCipherSuite
  private var local: Secret
  private var remote: Secret
  /// The peer asked for new keys while a flight was under way.
  private(set) var owesUpdate = false

  init(_ suite: DTLSCipherSuite, local: Secret, remote: Secret) {
    self.suite = suite
    self.local = local
    self.remote = remote
  }

  /// What this end writes with now.
  func writing() throws(HandshakeFailure) -> RecordProtection {
    try RecordProtection(suite, trafficSecret: local, encrypting: true)
  }

  /// What the peer writes with now.
  func reading() throws(HandshakeFailure) -> RecordProtection {
    try RecordProtection(suite, trafficSecret: remote, encrypting: false)
  }

  /// Goes on to this end's next keys.
  mutating func nextWriting() throws(HandshakeFailure) -> RecordProtection {
    local = try KeySchedule.next(suite.hash, after: local)
    return try writing()
  }

  /// Goes on to the peer's next keys.
  mutating func nextReading() throws(HandshakeFailure) -> RecordProtection {
    remote = try KeySchedule.next(suite.hash, after: remote)
    return try reading()
  }

  /// Puts this end's own update off, until the flight under way has arrived.
  mutating func oweUpdate() { owesUpdate = true }

  /// Whether an update that was put off is to be made now.
  mutating func payUpdate() -> Bool {
    defer { owesUpdate = false }
    return owesUpdate
  }
}
