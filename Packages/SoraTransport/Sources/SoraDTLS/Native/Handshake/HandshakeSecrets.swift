import SoraMedia

/// The secrets of a handshake of 1.3 and what is made of them, step by step (RFC 8446 §7.1).
struct HandshakeSecrets {
  private let suite: DTLSCipherSuite
  private let role: DTLSRole
  private var schedule: KeySchedule
  /// The traffic secrets of epoch 2.
  private let local: Secret
  private let remote: Secret
  private var exporter: Secret?

  /// - Parameters:
  ///   - suite: the agreed cipher suite.
  ///   - role: this end's.
  ///   - shared: what the key shares agree on.
  ///   - transcript: the hellos.
  init(
    _ suite: DTLSCipherSuite, role: DTLSRole, shared: Secret, transcript: Transcript
  ) throws(HandshakeFailure) {
    self.suite = suite
    self.role = role
    schedule = KeySchedule(suite.hash)
    try schedule.advance(with: shared)
    let hash = try suite.hash(transcript.bytes)
    let client = try schedule.derive("c hs traffic", hash)
    let server = try schedule.derive("s hs traffic", hash)
    (local, remote) = role == .client ? (client, server) : (server, client)
  }

  /// What this end writes the rest of the handshake with.
  func writing() throws(HandshakeFailure) -> RecordProtection {
    try RecordProtection(suite, trafficSecret: local, encrypting: true)
  }

  /// What the peer writes the rest of the handshake with.
  func reading() throws(HandshakeFailure) -> RecordProtection {
    try RecordProtection(suite, trafficSecret: remote, encrypting: false)
  }

  /// The content of this end's Finished.
  func finished(_ transcript: Transcript) throws(HandshakeFailure) -> [UInt8] {
    let data = try schedule.verifyData(local, transcript: transcript.bytes)
    return data.array(0..<data.count)
  }

  /// Whether it is the content of the peer's Finished.
  func accepts(_ finished: [UInt8], _ transcript: Transcript) throws(HandshakeFailure) -> Bool {
    try schedule.verifyData(remote, transcript: transcript.bytes).matches(finished)
  }

  /// Goes on to the keys of application data, and to what is exported.
  ///
  /// - Parameter transcript: everything up to the server's Finished.
  mutating func makeTrafficKeys(_ transcript: Transcript) throws(HandshakeFailure) -> TrafficKeys {
    try schedule.advance()
    let hash = try suite.hash(transcript.bytes)
    let client = try schedule.derive("c ap traffic", hash)
    let server = try schedule.derive("s ap traffic", hash)
    exporter = try schedule.derive("exp master", hash)
    return TrafficKeys(
      suite, local: role == .client ? client : server, remote: role == .client ? server : client)
  }

  /// Keying material for a label (RFC 8446 §7.5).
  func export(_ label: String, count: Int) throws(HandshakeFailure) -> Secret {
    guard let exporter else { throw .library("no keys to export from") }
    return try KeySchedule.export(suite.hash, exporter: exporter, label: label, count: count)
  }
}
