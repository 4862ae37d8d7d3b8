import COpenSSL
import SoraWire

/// A cipher with authentication, keyed once for one direction; a record only sets a new nonce.
@safe package final class AEADCipher {
  package enum Kind {
    case aes128GCM
    case aes256GCM
    case chacha20Poly1305

    var keyLength: Int { self == .aes128GCM ? 16 : 32 }
  }

  static let tagLength = 16
  static let nonceLength = 12

  private let context: OpaquePointer

  init(_ kind: Kind, key: Secret, encrypting: Bool) throws(HandshakeFailure) {
    guard key.count == kind.keyLength, let context = unsafe EVP_CIPHER_CTX_new() else {
      throw .library("no cipher context")
    }
    unsafe self.context = unsafe context
    let cipher =
      switch kind {
      case .aes128GCM: unsafe EVP_aes_128_gcm()
      case .aes256GCM: unsafe EVP_aes_256_gcm()
      case .chacha20Poly1305: unsafe EVP_chacha20_poly1305()
      }
    let isReady = unsafe key.span.withUnsafeBytes {
      unsafe EVP_CipherInit_ex(
        context, cipher, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
        encrypting ? 1 : 0) == 1
    }
    guard isReady else { throw .library(takeLibraryError()) }
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  private func begin(nonce: RawSpan, authenticating header: RawSpan) -> Bool {
    var written: Int32 = 0
    return unsafe nonce.withUnsafeBytes {
      unsafe EVP_CipherInit_ex(
        context, nil, nil, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
    }
      && header.withUnsafeBytes {
        unsafe EVP_CipherUpdate(
          context, nil, &written, $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
          Int32(truncatingIfNeeded: $0.count)) == 1
      }
  }

  /// Encrypts or decrypts `source` to `offset` of the destination.
  private func update(
    _ source: RawSpan, into destination: inout MutableRawSpan, at offset: Int
  ) -> Bool {
    if source.isEmpty { return true }
    var written: Int32 = 0
    var target = destination.part(offset, source.byteCount)
    return unsafe source.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe EVP_CipherUpdate(
          context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &written,
          source.baseAddress?.assumingMemoryBound(to: UInt8.self),
          Int32(truncatingIfNeeded: source.count)) == 1
      }
    }
  }

  /// Encrypts `content` and then `trailer`, and writes the tag behind both; `destination` holds just those.
  func seal(
    nonce: RawSpan, header: RawSpan, content: RawSpan, trailer: UInt8?,
    into destination: inout MutableRawSpan
  ) -> Bool {
    var end = content.byteCount
    guard destination.byteCount == end + (trailer == nil ? 0 : 1) + Self.tagLength,
      begin(nonce: nonce, authenticating: header),
      update(content, into: &destination, at: 0)
    else { return false }
    if let trailer {
      let byte: InlineArray<1, UInt8> = [trailer]
      guard update(byte.rawSpan, into: &destination, at: end) else { return false }
      end += 1
    }
    var written: Int32 = 0
    var tag = destination.part(end, Self.tagLength)
    return unsafe tag.withUnsafeMutableBytes { tag in
      unsafe EVP_CipherFinal_ex(
        context, tag.baseAddress?.assumingMemoryBound(to: UInt8.self), &written) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), tag.baseAddress) == 1
    }
  }

  /// Decrypts bytes that end in their tag where they are; `false` if that is wrong, and what was there is lost.
  func open(nonce: RawSpan, header: RawSpan, sealed: inout MutableRawSpan) -> Bool {
    let count = sealed.byteCount - Self.tagLength
    guard count >= 0, begin(nonce: nonce, authenticating: header) else { return false }
    var written: Int32 = 0
    // A stream cipher's last step writes nothing; libcrypto wants an address all the same.
    var rest: UInt8 = 0
    let isGenuine = unsafe sealed.withUnsafeMutableBytes { memory in
      let bytes = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
      if count > 0,
        unsafe EVP_CipherUpdate(context, bytes, &written, bytes, Int32(truncatingIfNeeded: count))
          != 1
      {
        return false
      }
      return unsafe EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), bytes.map { unsafe $0 + count }) == 1
        && EVP_CipherFinal_ex(context, &rest, &written) == 1
    }
    if !isGenuine { ERR_clear_error() }
    return isGenuine
  }
}

/// What hides the numbers of DTLS 1.3's records (RFC 9147 §4.2.3).
@safe package final class RecordNumberCipher {
  private let context: OpaquePointer
  private let isStream: Bool

  package init(_ kind: AEADCipher.Kind, key: Secret) throws(HandshakeFailure) {
    guard key.count == kind.keyLength, let context = unsafe EVP_CIPHER_CTX_new() else {
      throw .library("no cipher context")
    }
    unsafe self.context = unsafe context
    isStream = kind == .chacha20Poly1305
    let cipher =
      switch kind {
      case .aes128GCM: unsafe EVP_aes_128_ecb()
      case .aes256GCM: unsafe EVP_aes_256_ecb()
      case .chacha20Poly1305: unsafe EVP_chacha20()
      }
    let isReady = unsafe key.span.withUnsafeBytes {
      unsafe EVP_CipherInit_ex(
        context, cipher, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, 1) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
    }
    guard isReady else { throw .library(takeLibraryError()) }
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Two bytes to XOR with a record's number, from the first 16 bytes of its ciphertext; `nil` if libcrypto fails.
  package func mask(_ sample: RawSpan) -> (UInt8, UInt8)? {
    guard sample.byteCount == 16 else { return nil }
    var block = InlineArray<16, UInt8>(repeating: 0)
    let isMade = block.withMutableRawSpan { block in
      unsafe block.withUnsafeMutableBytes { block in
        unsafe sample.withUnsafeBytes { sample in
          let bytes = unsafe block.baseAddress?.assumingMemoryBound(to: UInt8.self)
          let sample = unsafe sample.baseAddress?.assumingMemoryBound(to: UInt8.self)
          var written: Int32 = 0
          guard isStream else {
            return unsafe EVP_CipherUpdate(context, bytes, &written, sample, 16) == 1
          }
          // The first four bytes are the counter, the others the nonce: libcrypto's IV is just that.
          return unsafe EVP_CipherInit_ex(context, nil, nil, nil, sample, -1) == 1
            && EVP_CipherUpdate(context, bytes, &written, bytes, 16) == 1
        }
      }
    }
    return isMade ? (block[0], block[1]) : nil
  }
}
