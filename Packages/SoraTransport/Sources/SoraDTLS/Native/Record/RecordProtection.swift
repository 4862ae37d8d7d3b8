import SoraWire

/// The keys of one direction of one epoch.
final class RecordProtection {
  private let cipher: AEADCipher
  private let iv: Secret
  /// 1.2 with GCM: the nonce's last eight bytes travel in the record (RFC 5288 §3).
  let explicitNonceLength: Int
  /// 1.3 only.
  let numberCipher: RecordNumberCipher?
  private let nonce = Secret(zeros: AEADCipher.nonceLength)

  /// Keys of 1.2, from the key block (RFC 5246 §6.3).
  init(_ suite: DTLSCipherSuite, key: Secret, iv: Secret, encrypting: Bool) throws(HandshakeFailure)
  {
    cipher = try AEADCipher(suite.cipher, key: key, encrypting: encrypting)
    explicitNonceLength = Self.explicitNonceLength(suite)
    guard iv.count + explicitNonceLength == AEADCipher.nonceLength else {
      throw .library("an IV of the wrong length")
    }
    self.iv = iv
    numberCipher = nil
  }

  /// Keys of 1.3, from a traffic secret (RFC 8446 §7.3, RFC 9147 §4.2.3).
  init(_ suite: DTLSCipherSuite, trafficSecret: Secret, encrypting: Bool) throws(HandshakeFailure) {
    func derive(_ label: String, _ count: Int) throws(HandshakeFailure) -> Secret {
      try KeyDerivation.expandLabel(
        suite.hash, secret: trafficSecret, label: label, count: count)
    }
    let length = suite.cipher.keyLength
    cipher = try AEADCipher(suite.cipher, key: try derive("key", length), encrypting: encrypting)
    iv = try derive("iv", AEADCipher.nonceLength)
    numberCipher = try RecordNumberCipher(suite.cipher, key: try derive("sn", length))
    explicitNonceLength = 0
  }

  static func explicitNonceLength(_ suite: DTLSCipherSuite) -> Int {
    suite.version == .v12 && suite.cipher != .chacha20Poly1305 ? 8 : 0
  }

  /// The nonce of a record: the IV and the number behind it, or the IV XOR the number (RFC 7905 §2, RFC 8446 §5.3).
  private func setNonce(_ number: UInt64) {
    let implicit = AEADCipher.nonceLength - 8
    let iv = iv
    nonce.withMutableSpan { nonce in
      nonce.zero(0, implicit)
      nonce.put64(number, at: implicit)
      for position in 0..<iv.count {
        nonce.put8(nonce.bytes.u8(position) ^ iv.span.u8(position), at: position)
      }
    }
  }

  /// Encrypts into `destination`, which holds just the content, the trailer and the tag.
  func seal(
    number: UInt64, header: RawSpan, content: RawSpan, trailer: UInt8?,
    into destination: inout MutableRawSpan
  ) -> Bool {
    setNonce(number)
    let nonce = nonce
    return cipher.seal(
      nonce: nonce.span, header: header, content: content, trailer: trailer, into: &destination)
  }

  /// Decrypts ciphertext with its tag behind it where it is; `false` where the tag is wrong.
  func open(number: UInt64, header: RawSpan, sealed: inout MutableRawSpan) -> Bool {
    setNonce(number)
    let nonce = nonce
    return cipher.open(nonce: nonce.span, header: header, sealed: &sealed)
  }
}
