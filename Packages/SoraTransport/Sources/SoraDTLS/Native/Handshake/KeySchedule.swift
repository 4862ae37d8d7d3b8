/// The key schedule of 1.3 (RFC 8446 §7.1) without pre-shared keys.
package struct KeySchedule {
  let hash: DTLSHash
  /// What labels start with; TLS's own is there for its published traces.
  private let prefix: String
  private var secret: Secret

  /// The early secret.
  package init(_ hash: DTLSHash, prefix: String = "dtls13") {
    self.hash = hash
    self.prefix = prefix
    let zeros = Secret(zeros: hash.length)
    secret = KeyDerivation.extract(hash, salt: zeros, input: zeros)
  }

  /// Derive-Secret, of a transcript's hash.
  package func derive(_ label: String, _ transcriptHash: [UInt8]) throws(HandshakeFailure) -> Secret
  {
    try KeyDerivation.expandLabel(
      hash, secret: secret, label: label, context: transcriptHash, count: hash.length,
      prefix: prefix)
  }

  /// Goes on to the handshake secret with the agreed secret, or to the master secret with nothing.
  package mutating func advance(with input: Secret? = nil) throws(HandshakeFailure) {
    let salt = try derive("derived", try hash([]))
    secret = KeyDerivation.extract(
      hash, salt: salt, input: input ?? Secret(zeros: hash.length))
  }

  /// The secret itself, for comparison with published traces.
  package var current: Secret { secret }

  /// The content of a Finished, from the sender's traffic secret (RFC 8446 §4.4.4).
  func verifyData(_ trafficSecret: Secret, transcript: [UInt8]) throws(HandshakeFailure) -> Secret {
    let key = try KeyDerivation.expandLabel(
      hash, secret: trafficSecret, label: "finished", count: hash.length, prefix: prefix)
    return KeyDerivation.hmac(hash, key: key, try hash(transcript))
  }

  /// Keying material for a label, with an empty context (RFC 8446 §7.5).
  package static func export(
    _ hash: DTLSHash, exporter: Secret, label: String, count: Int
  ) throws(HandshakeFailure) -> Secret {
    let empty = try hash([])
    let secret = try KeyDerivation.expandLabel(
      hash, secret: exporter, label: label, context: empty, count: hash.length)
    return try KeyDerivation.expandLabel(
      hash, secret: secret, label: "exporter", context: empty, count: count)
  }

  /// The traffic secret after a KeyUpdate (RFC 8446 §7.2).
  package static func next(_ hash: DTLSHash, after secret: Secret) throws(HandshakeFailure)
    -> Secret
  {
    try KeyDerivation.expandLabel(hash, secret: secret, label: "traffic upd", count: hash.length)
  }
}
