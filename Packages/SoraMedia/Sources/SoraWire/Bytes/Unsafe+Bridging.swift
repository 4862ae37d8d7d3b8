// From the pointers of those who meet C to spans. Whoever passes a pointer answers for its bounds, here as anywhere.

extension UnsafeMutableRawBufferPointer {
  /// Lends the memory to a writer.
  @inlinable @inline(__always)
  @unsafe
  public func withMutableRawSpan<Result, Failure>(
    _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var bytes = unsafe mutableBytes
    return try body(&bytes)
  }
}
