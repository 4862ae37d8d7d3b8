import COpenSSL

/// The keys of one direction of one epoch.
final class RecordProtection {
  private let cipher: AEADCipher
  private let iv: Secret
  /// 1.2 with GCM: the nonce's last eight bytes travel in the record (RFC 5288 §3).
  let explicitNonceLength: Int
  /// 1.3 only.
  let numberCipher: RecordNumberCipher?
  private let nonce: UnsafeMutableBufferPointer<UInt8>

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
    nonce = .allocate(capacity: AEADCipher.nonceLength)
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
    nonce = .allocate(capacity: AEADCipher.nonceLength)
  }

  deinit {
    OPENSSL_cleanse(nonce.baseAddress, nonce.count)
    nonce.deallocate()
  }

  static func explicitNonceLength(_ suite: DTLSCipherSuite) -> Int {
    suite.version == .v12 && suite.cipher != .chacha20Poly1305 ? 8 : 0
  }

  /// The nonce of a record: the IV and the number behind it, or the IV XOR the number (RFC 7905 §2, RFC 8446 §5.3).
  private func makeNonce(_ number: UInt64) -> UnsafePointer<UInt8>? {
    let implicit = AEADCipher.nonceLength - 8
    for position in 0..<AEADCipher.nonceLength {
      let byte: UInt8 =
        position < implicit
        ? 0
        : UInt8(truncatingIfNeeded: number >> UInt64(8 * (AEADCipher.nonceLength - 1 - position)))
      nonce[position] = byte ^ (position < iv.count ? iv.bytes[position] : 0)
    }
    return UnsafePointer(nonce.baseAddress)
  }

  /// Encrypts behind `destination`; room for the content, the trailer and the tag has to be there.
  func seal(
    number: UInt64, header: UnsafeBufferPointer<UInt8>, content: UnsafeBufferPointer<UInt8>,
    trailer: UInt8?, into destination: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    guard let nonce = makeNonce(number) else { return false }
    return cipher.seal(
      nonce: nonce, header: header, content: content, trailer: trailer, into: destination)
  }

  /// The plaintext of `count` bytes of ciphertext without its tag, or `nil` where the tag is wrong.
  func open(
    number: UInt64, header: UnsafeBufferPointer<UInt8>, ciphertext: UnsafePointer<UInt8>, count: Int
  ) -> [UInt8]? {
    guard let nonce = makeNonce(number) else { return nil }
    var isGenuine = false
    // One byte more, as an empty array has no memory to point at.
    var plaintext = [UInt8](unsafeUninitializedCapacity: count + 1) { memory, filled in
      guard let base = memory.baseAddress else { return }
      isGenuine = cipher.open(
        nonce: nonce, header: header, ciphertext: ciphertext, count: count, into: base)
      filled = isGenuine ? count : 0
    }
    guard isGenuine else {
      plaintext = []
      return nil
    }
    return plaintext
  }
}
