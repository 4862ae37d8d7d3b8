/// How the samples of a `PixelBuffer` lie in memory. All are 4:2:0.
public enum PixelFormat: Sendable, Hashable, CaseIterable {
  /// Three planes of 8-bit samples: Y, then U and V at half the width and height, rounded up.
  case i420
  /// Two planes of 8-bit samples: Y, then U and V interleaved (U first) at half the width and height, rounded up.
  case nv12
  /// Three planes as of `i420`, of 10-bit samples. Each has two bytes in the machine's order, whose upper 6 bits are 0.
  case i010

  /// The number of planes.
  public var planeCount: Int { self == .nv12 ? 2 : 3 }
  /// Bits of a sample that count: 8 or 10.
  public var bitDepth: Int { self == .i010 ? 10 : 8 }
  /// Bytes that a sample takes: 1 or 2.
  public var bytesPerSample: Int { self == .i010 ? 2 : 1 }
}

/// One plane of a picture: `height` rows of `width` bytes, `stride` bytes apart. Its pointers are as unsafe as any: they live as
/// long as the picture.
@safe public struct Plane {
  public let base: UnsafeRawPointer
  public let stride: Int
  /// Bytes of a row that are samples: as many as samples, twice that of chroma in an interleaved UV plane and of 10 bits a sample.
  public let width: Int
  public let height: Int

  /// The bytes of row `y`.
  @inlinable
  public func row(_ y: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + y * stride, count: width)
  }

  /// The samples of row `y`, which have as many bytes as `sample`: `UInt16` where they have 10 bits.
  @inlinable @inline(__always)
  public func row<Sample: BitwiseCopyable>(_ y: Int, of sample: Sample.Type)
    -> UnsafeBufferPointer<Sample>
  {
    unsafe row(y).assumingMemoryBound(to: sample)
  }
}

/// One plane of a picture that is being filled.
@safe public struct MutablePlane {
  public let base: UnsafeMutableRawPointer
  public let stride: Int
  /// Bytes of a row that are samples, as `Plane.width`.
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

  /// The samples of row `y`, as those of `Plane`.
  @inlinable @inline(__always)
  public func row<Sample: BitwiseCopyable>(_ y: Int, of sample: Sample.Type)
    -> UnsafeMutableBufferPointer<Sample>
  {
    unsafe row(y).assumingMemoryBound(to: sample)
  }
}
