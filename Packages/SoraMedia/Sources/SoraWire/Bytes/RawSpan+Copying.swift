// Bytes in and out of arrays and text. The standard library calls a raw view of any element unsafe, since some have
// padding that was never written; bytes have none.

extension RawSpan {
  /// `count` bytes from `offset`. Traps where they reach beyond the end.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func part(_ offset: Int, _ count: Int) -> RawSpan {
    extracting(offset..<offset + count)
  }

  /// What lies behind the first `offset` bytes. Traps where there are fewer.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func part(from offset: Int) -> RawSpan {
    extracting(offset..<byteCount)
  }
}

extension [UInt8] {
  /// The bytes as a parser reads them.
  @inlinable
  public var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// Lends the bytes to a writer.
  @inlinable
  public mutating func withMutableRawSpan<Result, Failure>(
    _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var elements = mutableSpan
    var bytes = unsafe elements.mutableBytes
    return try body(&bytes)
  }

  /// A copy of `bytes`.
  @inlinable
  public init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Appends a copy of `bytes`.
  @inlinable
  public mutating func append(copying bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// The bytes of a number, most significant first.
  @inlinable
  public init(bigEndian value: some FixedWidthInteger & BitwiseCopyable) {
    self.init()
    append(bigEndian: value)
  }

  /// Appends the bytes of a number, most significant first.
  @inlinable
  public mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(bigEndian value: Value) {
    var shift = Value.bitWidth
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

extension String {
  /// Text from bytes of UTF-8; what isn't valid becomes U+FFFD.
  @inlinable
  public init(repairing bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Text from bytes of UTF-8; `nil` where they aren't.
  @inlinable
  public init?(validating bytes: RawSpan) {
    guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(validating: $0, as: UTF8.self) })
    else { return nil }
    self = text
  }
}

extension InlineArray where Element == UInt8 {
  /// The bytes as a parser reads them.
  @inlinable
  public var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// Lends the bytes to a writer.
  @inlinable
  public mutating func withMutableRawSpan<Result, Failure>(
    _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var elements = mutableSpan
    var bytes = unsafe elements.mutableBytes
    return try body(&bytes)
  }
}
