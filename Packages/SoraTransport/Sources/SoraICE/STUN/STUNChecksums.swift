import COpenSSL
import SoraDigest
import SoraWire

// RFC 8489 §14.7.
let stunFingerprintMask: UInt32 = 0x5354_554E

private let crc32Table: [UInt32] = (0..<256).map { index in
  (0..<8).reduce(UInt32(index)) { value, _ in
    value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
  }
}

/// CRC-32 of ITU V.42, as zlib and FINGERPRINT compute it.
func crc32(_ bytes: RawSpan) -> UInt32 {
  let table = crc32Table
  var value = UInt32.max
  for offset in bytes.byteOffsets {
    value = table[Int((value ^ UInt32(bytes.u8(offset))) & 255)] ^ value >> 8
  }
  return ~value
}

/// HMAC-SHA1 (RFC 2104), 20 bytes.
func hmacSHA1(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
  var code = [UInt8](repeating: 0, count: 20)
  code.withMutableRawSpan { HMAC.sha1(message.rawSpan, key: key.rawSpan, into: &$0) }
  return code
}

/// HMAC-SHA256 (RFC 2104), 32 bytes.
func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
  var code = [UInt8](repeating: 0, count: 32)
  code.withMutableRawSpan { HMAC.sha256(message.rawSpan, key: key.rawSpan, into: &$0) }
  return code
}

/// SHA-256, 32 bytes.
func sha256(_ message: [UInt8]) -> [UInt8] { unsafe digest(message, EVP_sha256(), size: 32) }

/// MD5, 16 bytes: what long-term credentials of RFC 5389 are made with.
func md5(_ message: [UInt8]) -> [UInt8] { unsafe digest(message, EVP_md5(), size: 16) }

private func digest(_ message: [UInt8], _ type: OpaquePointer?, size: Int) -> [UInt8] {
  unsafe [UInt8](unsafeUninitializedCapacity: size) { result, count in
    var length: UInt32 = 0
    if unsafe EVP_Digest(message, message.count, result.baseAddress, &length, type, nil) != 1 {
      // Only where the system forbids the hash (MD5 under FIPS): nothing is authentic then.
      unsafe result.initialize(repeating: 0)
    }
    count = size
  }
}

/// Compares without leaving the first difference's position in the time taken.
func constantTimeEqual(_ a: RawSpan, _ b: RawSpan) -> Bool {
  guard a.byteCount == b.byteCount else { return false }
  return unsafe a.withUnsafeBytes { first in
    unsafe b.withUnsafeBytes { second in
      guard let first = first.baseAddress, let second = second.baseAddress else {
        return true
      }
      return unsafe CRYPTO_memcmp(first, second, a.byteCount) == 0
    }
  }
}
