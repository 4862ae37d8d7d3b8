import COpenSSL

/// Secret bytes, zeroed when the last owner lets go of them. A class: copies of an array would stay behind.
package final class Secret {
  package let bytes: UnsafeMutableBufferPointer<UInt8>

  package var count: Int { bytes.count }

  /// `count` zeros.
  package init(zeros count: Int) {
    bytes = .allocate(capacity: max(count, 0))
    bytes.initialize(repeating: 0)
  }

  /// Takes the bytes over and zeroes where they came from.
  package init(taking source: inout [UInt8]) {
    bytes = .allocate(capacity: source.count)
    _ = bytes.initialize(from: source)
    source.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    source = []
  }

  /// A copy of a part of another secret.
  init(_ source: Secret, _ range: Range<Int>) {
    let part = range.clamped(to: 0..<source.count)
    bytes = .allocate(capacity: part.count)
    _ = bytes.initialize(from: source.bytes[part])
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  /// The bytes as an array, which its new owner has to keep secret.
  package func array(_ range: Range<Int>) -> [UInt8] { Array(bytes[range.clamped(to: 0..<count)]) }

  /// Compares in constant time.
  func matches(_ other: [UInt8]) -> Bool {
    other.count == count && CRYPTO_memcmp(bytes.baseAddress, other, count) == 0
  }
}
