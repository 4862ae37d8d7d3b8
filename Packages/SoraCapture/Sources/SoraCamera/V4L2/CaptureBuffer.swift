import SoraMedia

/// A buffer's memory, which goes when nobody reads it any more.
@safe package final class CaptureBuffer: @unchecked Sendable {
  // @unchecked: both properties are `let`s; the driver writes to the memory only while the buffer is queued.

  fileprivate let planes: [UnsafeRawBufferPointer]
  private let release: @Sendable () -> Void

  package init(planes: [UnsafeRawBufferPointer], release: @escaping @Sendable () -> Void) {
    unsafe self.planes = unsafe planes
    self.release = release
  }

  /// The planes of memory.
  var count: Int { unsafe planes.count }

  /// What the driver wrote; nil where it names planes or bytes that there aren't.
  func contents(_ parts: PlaneRanges) -> FilledMemory? {
    guard parts.count > 0, parts.count <= count else { return nil }
    for index in 0..<parts.count {
      guard unsafe parts[index].upperBound <= planes[index].count else { return nil }
    }
    return FilledMemory(buffer: self, parts: parts)
  }

  deinit { release() }
}

/// What the driver wrote into a buffer. Valid while the buffer is not queued.
@safe struct FilledMemory {
  private let buffer: CaptureBuffer
  private let parts: PlaneRanges

  fileprivate init(buffer: CaptureBuffer, parts: PlaneRanges) {
    self.buffer = buffer
    self.parts = parts
  }

  /// The planes of memory; at least one.
  var count: Int { parts.count }

  /// A plane that there is.
  func plane(_ index: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: buffer.planes[index][parts[index]])
  }

  /// The bytes of a plane that there is.
  @_lifetime(borrow self)
  func bytes(of plane: Int) -> Span<UInt8> {
    unsafe _overrideLifetime(Span(_unsafeBytes: self.plane(plane)), borrowing: self)
  }

  /// The bytes of the first plane, in memory of their own; nil where there are none.
  func copy() -> EncodedBuffer? {
    let bytes = unsafe plane(0)
    return unsafe bytes.isEmpty ? nil : EncodedBuffer(bytes)
  }
}
