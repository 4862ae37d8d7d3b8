import COpenSSL

/// HMAC-SHA1 (RFC 2104) whose two key blocks are hashed once.
///
/// libcrypto's own HMAC duplicates digest contexts on the heap for every message; a `SHA_CTX` is a plain value, so
/// starting from the saved midstates costs a copy of 96 bytes, and no allocation.
package final class HMACSHA1 {
  private var inner = SHA_CTX()
  private var outer = SHA_CTX()

  /// - Parameter key: at most 64 bytes.
  package init(key: [UInt8]) {
    precondition(key.count <= 64)
    var block = [UInt8](repeating: 0, count: 64)
    for position in 0..<64 { block[position] = (position < key.count ? key[position] : 0) ^ 0x36 }
    unsafe SHA1_Init(&inner)
    unsafe SHA1_Update(&inner, block, 64)
    for position in 0..<64 { block[position] ^= 0x36 ^ 0x5C }
    unsafe SHA1_Init(&outer)
    unsafe SHA1_Update(&outer, block, 64)
    wipe(&block)
  }

  deinit {
    unsafe OPENSSL_cleanse(&inner, MemoryLayout<SHA_CTX>.size)
    unsafe OPENSSL_cleanse(&outer, MemoryLayout<SHA_CTX>.size)
  }

  /// Writes the 20 bytes over `count` bytes of a message followed by `suffix` in network order, if there is one.
  @inline(__always)
  package func authenticate(
    _ message: UnsafeRawPointer, count: Int, suffix: UInt32?, into digest: UnsafeMutableRawPointer
  ) {
    let result = unsafe digest.assumingMemoryBound(to: UInt8.self)
    var context = inner
    unsafe SHA1_Update(&context, message, count)
    if let suffix {
      var word = suffix.bigEndian
      unsafe SHA1_Update(&context, &word, 4)
    }
    unsafe SHA1_Final(result, &context)
    context = outer
    unsafe SHA1_Update(&context, digest, 20)
    unsafe SHA1_Final(result, &context)
  }
}
