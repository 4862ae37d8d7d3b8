import COpenSSL
import SoraWire

/// Secret bytes, zeroed when the last owner lets go of them. A class: copies of an array would stay behind.
@safe package final class Secret {
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  package var count: Int { unsafe bytes.count }

  /// The bytes, for as long as the secret is held.
  package var span: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeElements: bytes), borrowing: self) }
  }

  /// Lends the bytes to be filled in.
  package func withMutableSpan<Result, Failure>(
    _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe try UnsafeMutableRawBufferPointer(bytes).withMutableRawSpan(body)
  }

  /// `count` zeros.
  package init(zeros count: Int) {
    unsafe bytes = .allocate(capacity: max(count, 0))
    unsafe bytes.initialize(repeating: 0)
  }

  /// Takes the bytes over and zeroes where they came from.
  package init(taking source: inout [UInt8]) {
    unsafe bytes = .allocate(capacity: source.count)
    _ = unsafe bytes.initialize(from: source)
    unsafe source.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    source = []
  }

  /// A copy of a part of another secret.
  init(_ source: Secret, _ range: Range<Int>) {
    let part = range.clamped(to: 0..<source.count)
    unsafe bytes = .allocate(capacity: part.count)
    _ = unsafe bytes.initialize(from: source.bytes[part])
  }

  deinit {
    unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    unsafe bytes.deallocate()
  }

  /// The bytes as an array, which its new owner has to keep secret.
  package func array(_ range: Range<Int>) -> [UInt8] {
    unsafe Array(bytes[range.clamped(to: 0..<count)])
  }

  /// Compares in constant time.
  func matches(_ other: [UInt8]) -> Bool {
    unsafe other.count == count && CRYPTO_memcmp(bytes.baseAddress, other, count) == 0
  }
}
