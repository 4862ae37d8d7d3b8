import SoraMedia

/// A buffer's memory, which goes when nobody reads it any more.
@safe package final class CaptureBuffer: @unchecked Sendable {
  // @unchecked: both properties are `let`s; the driver writes to the memory only while the buffer is queued.

  private let planes: [UnsafeRawBufferPointer]
  private let release: @Sendable () -> Void

  package init(planes: [UnsafeRawBufferPointer], release: @escaping @Sendable () -> Void) {
    unsafe self.planes = unsafe planes
    self.release = release
  }

  /// The planes of memory.
  var count: Int { unsafe planes.count }

  /// What the driver wrote; nil where it names planes or bytes that there aren't.
  func contents(_ parts: [Range<Int>]) -> FilledMemory? {
    guard !parts.isEmpty, parts.count <= count else { return nil }
    var contents: [UnsafeRawBufferPointer] = unsafe []
    for index in parts.indices {
      let plane = unsafe planes[index]
      guard parts[index].upperBound <= plane.count else { return nil }
      unsafe contents.append(UnsafeRawBufferPointer(rebasing: plane[parts[index]]))
    }
    return unsafe FilledMemory(planes: contents)
  }

  deinit { release() }
}

/// What the driver wrote into a buffer. Valid while the buffer is held and not queued.
@safe struct FilledMemory {
  /// One for each plane of memory; at least one.
  let planes: [UnsafeRawBufferPointer]

  /// The bytes of a plane that there is.
  @_lifetime(borrow self)
  func bytes(of plane: Int) -> Span<UInt8> {
    unsafe _overrideLifetime(Span(_unsafeBytes: planes[plane]), borrowing: self)
  }

  /// The bytes of the first plane, in memory of their own; nil where there are none.
  func copy() -> EncodedBuffer? {
    unsafe planes[0].isEmpty ? nil : EncodedBuffer(planes[0])
  }
}
