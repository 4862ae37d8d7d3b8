package import SoraMedia

/// Two chroma planes for a library that can't take them interleaved. Their memory is kept from picture to picture.
@safe package struct PlanarChroma: ~Copyable {
  private var memory: UnsafeMutablePointer<UInt8>?
  private var capacity = 0

  package init() {}

  deinit { unsafe memory?.deallocate() }

  /// Takes an interleaved plane apart: where the planes lie, and how many bytes apart their rows do. Valid until the next
  /// call.
  package mutating func split(_ interleaved: Plane) -> (
    u: UnsafeRawPointer, v: UnsafeRawPointer, stride: Int
  ) {
    let width = interleaved.width / 2
    let height = interleaved.height
    let stride = (width + 63) & ~63
    let size = stride * height
    if capacity < 2 * size {
      unsafe memory?.deallocate()
      unsafe memory = .allocate(capacity: 2 * size)
      capacity = 2 * size
    }
    let first = unsafe memory.unsafelyUnwrapped
    let second = unsafe first + size
    for row in 0..<height {
      unsafe Self.split(
        interleaved.row(row, of: UInt8.self).baseAddress.unsafelyUnwrapped,
        first + row * stride, second + row * stride, count: width)
    }
    return (UnsafeRawPointer(first), UnsafeRawPointer(second), stride)
  }

  /// One row. Reads pairs, so that the compiler makes shuffles of it.
  private static func split(
    _ source: UnsafePointer<UInt8>, _ u: UnsafeMutablePointer<UInt8>,
    _ v: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    var x = 0
    while x < count {
      unsafe u[x] = unsafe source[2 &* x]
      unsafe v[x] = unsafe source[2 &* x &+ 1]
      x &+= 1
    }
  }
}
