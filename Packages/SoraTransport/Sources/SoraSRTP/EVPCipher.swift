import COpenSSL

/// One keyed cipher context of libcrypto. The key is set up once; a packet only sets a new IV, which allocates nothing.
@safe struct EVPCipher: ~Copyable {
  enum Kind { case counter128, counter256, gcm128, gcm256 }
  enum Direction { case encrypt, decrypt }

  private let context: OpaquePointer

  init(kind: Kind, key: [UInt8], direction: Direction) throws(SRTPError) {
    guard let context = unsafe EVP_CIPHER_CTX_new() else {
      throw .libraryFailure(code: EVPCipher.lastError())
    }
    let cipher =
      switch kind {
      case .counter128: unsafe EVP_aes_128_ctr()
      case .counter256: unsafe EVP_aes_256_ctr()
      case .gcm128: unsafe EVP_aes_128_gcm()
      case .gcm256: unsafe EVP_aes_256_gcm()
      }
    guard
      unsafe EVP_CipherInit_ex(context, cipher, nil, key, nil, direction == .encrypt ? 1 : 0) == 1
    else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw .libraryFailure(code: EVPCipher.lastError())
    }
    unsafe self.context = unsafe context
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// The oldest error in libcrypto's queue of this thread, which is emptied.
  static func lastError() -> Int32 {
    let code = ERR_get_error()
    ERR_clear_error()
    return Int32(truncatingIfNeeded: code)
  }

  /// Counter mode: encrypts or decrypts `count` bytes from a 16-byte first counter block.
  @inline(__always)
  func applyKeystream(
    iv: UnsafeRawPointer, from source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer,
    count: Int
  ) -> Bool {
    var written: Int32 = 0
    guard unsafe EVP_CipherInit_ex(context, nil, nil, nil, Self.bytes(iv), -1) == 1 else {
      return false
    }
    return unsafe EVP_CipherUpdate(
      context, Self.bytes(destination), &written, Self.bytes(source),
      Int32(truncatingIfNeeded: count)) == 1
  }

  /// Starts a packet of Galois/counter mode with its 12-byte IV and its first authenticated bytes.
  @inline(__always)
  func begin(iv: UnsafeRawPointer, authenticating header: UnsafeRawPointer, count: Int) -> Bool {
    guard unsafe EVP_CipherInit_ex(context, nil, nil, nil, Self.bytes(iv), -1) == 1 else {
      return false
    }
    return unsafe authenticate(header, count: count)
  }

  @inline(__always)
  func authenticate(_ bytes: UnsafeRawPointer, count: Int) -> Bool {
    var written: Int32 = 0
    return unsafe EVP_CipherUpdate(
      context, nil, &written, Self.bytes(bytes), Int32(truncatingIfNeeded: count)) == 1
  }

  @inline(__always)
  func update(
    _ source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int
  ) -> Bool {
    if count == 0 { return true }
    var written: Int32 = 0
    return unsafe EVP_CipherUpdate(
      context, Self.bytes(destination), &written, Self.bytes(source),
      Int32(truncatingIfNeeded: count)) == 1
  }

  /// Ends an encrypted packet and writes its 16-byte tag.
  @inline(__always)
  func seal(tag: UnsafeMutableRawPointer) -> Bool {
    var written: Int32 = 0
    guard unsafe EVP_CipherFinal_ex(context, Self.bytes(tag), &written) == 1 else { return false }
    return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1
  }

  /// Ends a decrypted packet; `false` if its 16-byte tag is wrong.
  @inline(__always)
  func open(tag: UnsafeMutableRawPointer) -> Bool {
    var written: Int32 = 0
    guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1 else {
      return false
    }
    return unsafe EVP_CipherFinal_ex(context, Self.bytes(tag), &written) == 1
  }

  @inline(__always)
  private static func bytes(_ pointer: UnsafeRawPointer) -> UnsafePointer<UInt8> {
    unsafe pointer.assumingMemoryBound(to: UInt8.self)
  }

  @inline(__always)
  private static func bytes(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt8> {
    unsafe pointer.assumingMemoryBound(to: UInt8.self)
  }
}
