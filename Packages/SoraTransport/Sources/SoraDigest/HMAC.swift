import COpenSSL

/// HMAC (RFC 2104), a message at a time.
///
/// libcrypto's own looks up the digest by name and makes contexts on the heap for every message, and takes eight times as long for a
/// STUN message.
public enum HMAC {
  /// Writes HMAC-SHA1.
  ///
  /// - Parameters:
  ///   - message: what is authenticated.
  ///   - key: of any length.
  ///   - code: of its 20 bytes or more the first 20 are written.
  public static func sha1(_ message: RawSpan, key: RawSpan, into code: inout MutableRawSpan) {
    write(SHA1.self, message, key, &code)
  }

  /// Writes HMAC-SHA256.
  ///
  /// - Parameters:
  ///   - message: what is authenticated.
  ///   - key: of any length.
  ///   - code: of its 32 bytes or more the first 32 are written.
  public static func sha256(_ message: RawSpan, key: RawSpan, into code: inout MutableRawSpan) {
    write(SHA256.self, message, key, &code)
  }

  /// Writes HMAC-SHA384.
  ///
  /// - Parameters:
  ///   - message: what is authenticated.
  ///   - key: of any length.
  ///   - code: of its 48 bytes or more the first 48 are written.
  public static func sha384(_ message: RawSpan, key: RawSpan, into code: inout MutableRawSpan) {
    write(SHA384.self, message, key, &code)
  }

  private static func write<State: DigestState>(
    _ digest: State.Type, _ message: RawSpan, _ key: RawSpan, _ code: inout MutableRawSpan
  ) {
    var keyed = KeyedDigest<State>(key: key)
    keyed.authenticate(message, into: &code)
    wipe(&keyed)
  }
}

/// HMAC-SHA1 (RFC 2104) whose two key blocks are hashed once, for many messages.
package final class HMACSHA1 {
  private var keyed: KeyedDigest<SHA1>

  package init(key: [UInt8]) { unsafe keyed = KeyedDigest(key: key.span.bytes) }

  deinit { wipe(&keyed) }

  /// Writes the 20 bytes over `count` bytes of a message followed by `suffix` in network order, if there is one.
  package func authenticate(
    _ message: UnsafeRawPointer, count: Int, suffix: UInt32?, into digest: UnsafeMutableRawPointer
  ) {
    let message = unsafe RawSpan(_unsafeStart: message, byteCount: count)
    var code = unsafe MutableRawSpan(_unsafeStart: digest, byteCount: SHA1.length)
    keyed.authenticate(message, suffix: suffix, into: &code)
  }
}

/// What the two blocks of an HMAC's key leave of a digest.
struct KeyedDigest<State: DigestState> {
  private var inner = State.begin()
  private var outer = State.begin()

  init(key: RawSpan) {
    var block = InlineArray<128, UInt8>(repeating: 0)
    if key.byteCount > State.blockLength {
      // RFC 2104 §2: such a key is hashed first.
      var state = State.begin()
      state.add(key)
      var span = block.mutableSpan
      var bytes = unsafe span.mutableBytes
      state.end(into: &bytes)
    } else {
      for offset in 0..<key.byteCount {
        block[offset] = unsafe key.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      }
    }
    for position in 0..<State.blockLength { block[position] ^= 0x36 }
    inner.add(unsafe block.span.bytes.extracting(first: State.blockLength))
    for position in 0..<State.blockLength { block[position] ^= 0x36 ^ 0x5C }
    outer.add(unsafe block.span.bytes.extracting(first: State.blockLength))
    wipe(&block)
  }

  /// Writes `State.length` bytes over a message followed by `suffix` in network order, if there is one.
  func authenticate(_ message: RawSpan, suffix: UInt32? = nil, into code: inout MutableRawSpan) {
    var state = inner
    state.add(message)
    if let suffix {
      let word: InlineArray<4, UInt8> = [
        UInt8(suffix >> 24), UInt8(suffix >> 16 & 255), UInt8(suffix >> 8 & 255),
        UInt8(suffix & 255),
      ]
      state.add(unsafe word.span.bytes)
    }
    state.end(into: &code)
    state = outer
    state.add(code.bytes.extracting(first: State.length))
    state.end(into: &code)
  }
}

/// Leaves nothing of a secret in memory.
private func wipe<Value>(_ value: inout Value) {
  unsafe withUnsafeMutablePointer(to: &value) {
    unsafe OPENSSL_cleanse($0, MemoryLayout<Value>.size)
  }
}
