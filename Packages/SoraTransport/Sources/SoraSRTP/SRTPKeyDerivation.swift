import COpenSSL
package import SoraMedia

/// Session keys from a master key and salt (RFC 3711 §4.3, with a key derivation rate of 0; RFC 6188 for 256 bits).
package enum SRTPKeyDerivation {
  /// What a derived key is for (RFC 3711 §4.3.2).
  package enum Label: UInt8 {
    case rtpEncryption = 0
    case rtpAuthentication = 1
    case rtpSalt = 2
    case rtcpEncryption = 3
    case rtcpAuthentication = 4
    case rtcpSalt = 5
  }

  /// `count` bytes of the key stream of AES in counter mode under the master key, starting at the salt with the
  /// label folded in.
  package static func derive(
    _ label: Label, count: Int, from master: SRTPKeyingMaterial
  ) throws(SRTPError) -> [UInt8] {
    // RFC 7714 §11: the AEAD profiles' salt of 96 bits stands left in the 112 bits that the derivation expects.
    var counter = [UInt8](repeating: 0, count: 16)
    for (position, byte) in master.salt.prefix(14).enumerated() { counter[position] = byte }
    counter[7] ^= label.rawValue
    let cipher = try EVPCipher(
      kind: master.key.count == 32 ? .counter256 : .counter128, key: master.key, direction: .encrypt
    )
    var output = [UInt8](repeating: 0, count: count)
    let status = unsafe counter.withUnsafeBytes { iv in
      unsafe output.withUnsafeMutableBytes { bytes in
        unsafe cipher.applyKeystream(
          iv: iv.baseAddress!, from: UnsafeRawPointer(bytes.baseAddress!),
          into: bytes.baseAddress!, count: count)
      }
    }
    guard status else { throw .libraryFailure(code: EVPCipher.lastError()) }
    return output
  }
}

/// Overwrites secrets before their memory goes back to the heap.
func wipe(_ secret: inout [UInt8]) {
  unsafe secret.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
}
