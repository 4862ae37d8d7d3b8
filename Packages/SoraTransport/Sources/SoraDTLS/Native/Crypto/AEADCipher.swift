import COpenSSL

/// A cipher with authentication, keyed once for one direction; a record only sets a new nonce.
package final class AEADCipher {
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
    guard key.count == kind.keyLength, let context = EVP_CIPHER_CTX_new() else {
      throw .library("no cipher context")
    }
    self.context = context
    let cipher =
      switch kind {
      case .aes128GCM: EVP_aes_128_gcm()
      case .aes256GCM: EVP_aes_256_gcm()
      case .chacha20Poly1305: EVP_chacha20_poly1305()
      }
    guard
      EVP_CipherInit_ex(context, cipher, nil, key.bytes.baseAddress, nil, encrypting ? 1 : 0) == 1
    else { throw .library(takeLibraryError()) }
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  private func begin(
    nonce: UnsafePointer<UInt8>, authenticating header: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    var written: Int32 = 0
    return EVP_CipherInit_ex(context, nil, nil, nil, nonce, -1) == 1
      && EVP_CipherUpdate(
        context, nil, &written, header.baseAddress, Int32(truncatingIfNeeded: header.count)) == 1
  }

  private func update(
    _ source: UnsafePointer<UInt8>?, _ count: Int, into destination: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    if count == 0 { return true }
    var written: Int32 = 0
    return EVP_CipherUpdate(
      context, destination, &written, source, Int32(truncatingIfNeeded: count)) == 1
  }

  /// Encrypts `content` and then `trailer`, and writes the tag behind both.
  func seal(
    nonce: UnsafePointer<UInt8>, header: UnsafeBufferPointer<UInt8>,
    content: UnsafeBufferPointer<UInt8>, trailer: UInt8?,
    into destination: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    var written: Int32 = 0
    var end = destination + content.count
    guard begin(nonce: nonce, authenticating: header),
      update(content.baseAddress, content.count, into: destination)
    else { return false }
    if var trailer {
      guard update(&trailer, 1, into: end) else { return false }
      end += 1
    }
    return EVP_CipherFinal_ex(context, end, &written) == 1
      && EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), end) == 1
  }

  /// Decrypts `count` bytes that are followed by their tag; `false` if it is wrong, and what was written means nothing.
  func open(
    nonce: UnsafePointer<UInt8>, header: UnsafeBufferPointer<UInt8>,
    ciphertext: UnsafePointer<UInt8>, count: Int, into destination: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    var written: Int32 = 0
    let tag = UnsafeMutablePointer(mutating: ciphertext + count)
    let isGenuine =
      begin(nonce: nonce, authenticating: header)
      && update(ciphertext, count, into: destination)
      && EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag) == 1
      && EVP_CipherFinal_ex(context, destination + count, &written) == 1
    if !isGenuine { ERR_clear_error() }
    return isGenuine
  }
}

/// What hides the numbers of DTLS 1.3's records (RFC 9147 §4.2.3).
package final class RecordNumberCipher {
  private let context: OpaquePointer
  private let isStream: Bool
  private var block: (UInt64, UInt64) = (0, 0)

  package init(_ kind: AEADCipher.Kind, key: Secret) throws(HandshakeFailure) {
    guard key.count == kind.keyLength, let context = EVP_CIPHER_CTX_new() else {
      throw .library("no cipher context")
    }
    self.context = context
    isStream = kind == .chacha20Poly1305
    let cipher =
      switch kind {
      case .aes128GCM: EVP_aes_128_ecb()
      case .aes256GCM: EVP_aes_256_ecb()
      case .chacha20Poly1305: EVP_chacha20()
      }
    guard EVP_CipherInit_ex(context, cipher, nil, key.bytes.baseAddress, nil, 1) == 1,
      EVP_CIPHER_CTX_set_padding(context, 0) == 1
    else { throw .library(takeLibraryError()) }
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Two bytes to XOR with a record's number, from the first 16 bytes of its ciphertext; `nil` if libcrypto fails.
  package func mask(_ sample: UnsafePointer<UInt8>) -> (UInt8, UInt8)? {
    withUnsafeMutableBytes(of: &block) { block -> (UInt8, UInt8)? in
      let bytes = block.bindMemory(to: UInt8.self)
      var written: Int32 = 0
      if isStream {
        // The first four bytes are the counter, the others the nonce: libcrypto's IV is just that.
        bytes.update(repeating: 0)
        guard EVP_CipherInit_ex(context, nil, nil, nil, sample, -1) == 1,
          EVP_CipherUpdate(context, bytes.baseAddress, &written, bytes.baseAddress, 16) == 1
        else { return nil }
      } else {
        guard EVP_CipherUpdate(context, bytes.baseAddress, &written, sample, 16) == 1 else {
          return nil
        }
      }
      return (bytes[0], bytes[1])
    }
  }
}
