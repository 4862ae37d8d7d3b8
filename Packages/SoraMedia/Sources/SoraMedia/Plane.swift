/// How the samples of a `PixelBuffer` lie in memory. All are 8 bits a sample, 4:2:0.
public enum PixelFormat: Sendable, Hashable {
  /// Three planes: Y, then U and V at half the width and height, rounded up.
  case i420
  /// Two planes: Y, then U and V interleaved (U first) at half the width and height, rounded up.
  case nv12

  /// The number of planes.
  public var planeCount: Int { self == .i420 ? 3 : 2 }
}

/// One plane of a picture: `height` rows of `width` bytes, `stride` bytes apart. Its pointers are as unsafe as any: they live as
/// long as the picture.
@safe public struct Plane {
  public let base: UnsafeRawPointer
  public let stride: Int
  /// Bytes of a row that are samples. For an interleaved UV plane, twice the chroma width.
  public let width: Int
  public let height: Int

  /// The bytes of row `y`.
  @inlinable
  public func row(_ y: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + y * stride, count: width)
  }
}

/// One plane of a picture that is being filled.
@safe public struct MutablePlane {
  public let base: UnsafeMutableRawPointer
  public let stride: Int
  public let width: Int
  public let height: Int

  @inlinable
  public init(base: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = unsafe base
    self.stride = stride
    self.width = width
    self.height = height
  }

  /// The bytes of row `y`.
  @inlinable
  public func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base + y * stride, count: width)
  }
}
