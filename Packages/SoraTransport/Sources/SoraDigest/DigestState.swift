import COpenSSL

/// A message digest under way. A plain value, so that copying one costs no allocation, as it does with libcrypto's `EVP_MD_CTX`.
protocol DigestState {
  /// Of what comes out, in bytes.
  static var length: Int { get }
  /// Of what is hashed at a time, in bytes; at most 128.
  static var blockLength: Int { get }
  /// Of no message yet.
  static func begin() -> Self
  mutating func add(_ bytes: RawSpan)
  /// Writes the first `length` bytes of a span. There is nothing to add to afterwards.
  mutating func end(into digest: inout MutableRawSpan)
}

/// SHA-1 (FIPS 180-4).
struct SHA1: DigestState {
  static let length = 20
  static let blockLength = 64
  private var context = SHA_CTX()

  static func begin() -> Self {
    var state = Self()
    unsafe SHA1_Init(&state.context)
    return state
  }

  mutating func add(_ bytes: RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { unsafe SHA1_Update(&context, $0.baseAddress, $0.count) }
  }

  mutating func end(into digest: inout MutableRawSpan) {
    precondition(digest.byteCount >= Self.length)
    unsafe digest.lend { unsafe SHA1_Final($0, &context) }
  }
}

/// SHA-256 (FIPS 180-4).
struct SHA256: DigestState {
  static let length = 32
  static let blockLength = 64
  private var context = SHA256_CTX()

  static func begin() -> Self {
    var state = Self()
    unsafe SHA256_Init(&state.context)
    return state
  }

  mutating func add(_ bytes: RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { unsafe SHA256_Update(&context, $0.baseAddress, $0.count) }
  }

  mutating func end(into digest: inout MutableRawSpan) {
    precondition(digest.byteCount >= Self.length)
    unsafe digest.lend { unsafe SHA256_Final($0, &context) }
  }
}

/// SHA-384 (FIPS 180-4).
struct SHA384: DigestState {
  static let length = 48
  static let blockLength = 128
  private var context = SHA512_CTX()

  static func begin() -> Self {
    var state = Self()
    unsafe SHA384_Init(&state.context)
    return state
  }

  mutating func add(_ bytes: RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { unsafe SHA384_Update(&context, $0.baseAddress, $0.count) }
  }

  mutating func end(into digest: inout MutableRawSpan) {
    precondition(digest.byteCount >= Self.length)
    unsafe digest.lend { unsafe SHA384_Final($0, &context) }
  }
}

extension MutableRawSpan {
  fileprivate mutating func lend(_ body: (UnsafeMutablePointer<UInt8>?) -> Int32) {
    _ = unsafe withUnsafeMutableBytes { unsafe body($0.bindMemory(to: UInt8.self).baseAddress) }
  }
}
