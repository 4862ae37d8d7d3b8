import COpenSSL
import CSoraDTLS
package import SoraMedia

/// This end's share of a Diffie-Hellman agreement. Good for one agreement.
@safe package final class KeyAgreement {
  let group: DTLSGroup
  /// What the peer gets: 32 bytes of X25519, or 65 of an uncompressed P-256 point.
  package let publicKey: [UInt8]
  private var key: OpaquePointer?

  /// Makes a share whose private key comes from `random`.
  package init(_ group: DTLSGroup, random: RandomSource) throws(HandshakeFailure) {
    self.group = group
    var key: OpaquePointer?
    var share: [UInt8]
    switch group {
    case .x25519:
      var drawn = random.bytes(32)
      let scalar = Secret(taking: &drawn)
      share = [UInt8](repeating: 0, count: 32)
      var count = share.count
      unsafe key = unsafe scalar.span.withUnsafeBytes {
        unsafe EVP_PKEY_new_raw_private_key(
          EVP_PKEY_X25519, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), 32)
      }
      guard unsafe key != nil, unsafe EVP_PKEY_get_raw_public_key(key, &share, &count) == 1,
        count == 32
      else {
        unsafe EVP_PKEY_free(key)
        throw .library(takeLibraryError())
      }
    case .p256:
      share = [UInt8](repeating: 0, count: 65)
      // A scalar is out of range once in 2^32 draws.
      for _ in 0..<4 where unsafe key == nil {
        var drawn = random.bytes(32)
        let scalar = Secret(taking: &drawn)
        unsafe key = unsafe scalar.span.withUnsafeBytes {
          unsafe sora_dtls_p256_private($0.baseAddress?.assumingMemoryBound(to: UInt8.self), &share)
        }
      }
      guard unsafe key != nil else { throw .library(takeLibraryError()) }
    }
    unsafe self.key = unsafe key
    publicKey = share
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Agrees on the shared secret and forgets the private key.
  ///
  /// Fails for what isn't a point of the group, and for a secret of only zeros (RFC 8446 §7.4.2).
  package func agree(with peer: [UInt8]) throws(HandshakeFailure) -> Secret {
    guard let own = unsafe key else { throw .library("a key share was used twice") }
    unsafe key = nil
    defer { unsafe EVP_PKEY_free(own) }
    let other: OpaquePointer? =
      switch group {
      case .x25519:
        unsafe peer.count == 32
          ? EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, peer, peer.count) : nil
      case .p256: unsafe peer.count == 65 ? sora_dtls_p256_public(peer) : nil
      }
    let context = unsafe EVP_PKEY_CTX_new(own, nil)
    defer {
      unsafe EVP_PKEY_free(other)
      unsafe EVP_PKEY_CTX_free(context)
    }
    let secret = Secret(zeros: 32)
    var count = secret.count
    let isAgreed =
      unsafe other != nil && EVP_PKEY_derive_init(context) == 1
      && EVP_PKEY_derive_set_peer(context, other) == 1
      && secret.withMutableSpan { secret in
        unsafe secret.withUnsafeMutableBytes {
          unsafe EVP_PKEY_derive(
            context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &count) == 1
        }
      }
    guard isAgreed, count == 32 else {
      ERR_clear_error()
      throw .illegalParameter("the peer's key share isn't a point of its group")
    }
    return secret
  }
}
