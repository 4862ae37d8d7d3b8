/// The keys of 1.2 (RFC 5246 §8.1, §6.3, RFC 7627, RFC 5705).
struct MasterSecret {
  private static let length = 48
  private static let verifyDataLength = 12

  let hash: DTLSHash
  private let secret: Secret
  private let clientRandom: [UInt8]
  private let serverRandom: [UInt8]

  /// - Parameter sessionHash: the hash of the messages up to the client's key exchange, where both ends want the extended
  ///   master secret.
  init(
    hash: DTLSHash, premaster: Secret, clientRandom: [UInt8], serverRandom: [UInt8],
    sessionHash: [UInt8]?
  ) {
    self.hash = hash
    self.clientRandom = clientRandom
    self.serverRandom = serverRandom
    secret = KeyDerivation.prf(
      hash, secret: premaster,
      label: sessionHash == nil ? "master secret" : "extended master secret",
      seed: sessionHash ?? clientRandom + serverRandom, count: Self.length)
  }

  /// The keys of both directions.
  func recordProtection(
    _ suite: DTLSCipherSuite, role: DTLSRole
  ) throws(HandshakeFailure) -> (write: RecordProtection, read: RecordProtection) {
    let key = suite.cipher.keyLength
    let iv = AEADCipher.nonceLength - RecordProtection.explicitNonceLength(suite)
    let block = KeyDerivation.prf(
      hash, secret: secret, label: "key expansion", seed: serverRandom + clientRandom,
      count: 2 * (key + iv))
    func protection(_ owner: DTLSRole) throws(HandshakeFailure) -> RecordProtection {
      let keyStart = owner == .client ? 0 : key
      let ivStart = 2 * key + (owner == .client ? 0 : iv)
      return try RecordProtection(
        suite, key: Secret(block, keyStart..<(keyStart + key)),
        iv: Secret(block, ivStart..<(ivStart + iv)), encrypting: owner == role)
    }
    return (try protection(role), try protection(role == .client ? .server : .client))
  }

  /// The content of an end's Finished.
  func verifyData(of role: DTLSRole, transcript: [UInt8]) throws(HandshakeFailure) -> Secret {
    KeyDerivation.prf(
      hash, secret: secret, label: "\(role.rawValue) finished", seed: try hash(transcript),
      count: Self.verifyDataLength)
  }

  /// Keying material for a label, without a context (RFC 5705 §4).
  func export(_ label: String, count: Int) -> Secret {
    KeyDerivation.prf(
      hash, secret: secret, label: label, seed: clientRandom + serverRandom, count: count)
  }
}
