/// How the samples of a `PixelBuffer` lie in memory. All are 8 bits a sample, 4:2:0.
public enum PixelFormat: Sendable, Hashable {
  /// Three planes: Y, then U and V at half the width and height, rounded up.
  case i420
  /// Two planes: Y, then U and V interleaved (U first) at half the width and height, rounded up.
  case nv12

  /// The number of planes.
  public var planeCount: Int { self == .i420 ? 3 : 2 }
}

/// A picture in memory: planes of 8-bit samples that are never written again once the buffer is shared.
///
/// A buffer references memory that may belong to a decoder, a camera or a file; it is given back when the last
/// reference goes. Passing a buffer on never copies pixels.
@safe public final class PixelBuffer: @unchecked Sendable {
  // @unchecked: every stored property is a `let`; the samples are written only by the creator before the buffer
  // is handed on (`init(width:height:format:fill:)`), and `release` runs once, in deinit.

  /// Visible width in pixels, at least 1.
  public let width: Int
  /// Visible height in pixels, at least 1.
  public let height: Int
  public let format: PixelFormat

  @usableFromInline let bases: (UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer)
  @usableFromInline let strides: (Int, Int, Int)
  private let release: @Sendable () -> Void

  /// References I420 planes. `release` runs once, on whichever thread drops the last reference.
  public init(
    width: Int, height: Int,
    y: UnsafeRawPointer, yStride: Int,
    u: UnsafeRawPointer, uStride: Int,
    v: UnsafeRawPointer, vStride: Int,
    release: @escaping @Sendable () -> Void
  ) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    format = .i420
    unsafe bases = unsafe (y, u, v)
    strides = (yStride, uStride, vStride)
    self.release = release
  }

  /// References NV12 planes. `release` runs once, on whichever thread drops the last reference.
  public init(
    width: Int, height: Int,
    y: UnsafeRawPointer, yStride: Int,
    uv: UnsafeRawPointer, uvStride: Int,
    release: @escaping @Sendable () -> Void
  ) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    format = .nv12
    unsafe bases = unsafe (y, uv, uv)
    strides = (yStride, uvStride, uvStride)
    self.release = release
  }

  /// Allocates a buffer (rows padded to 32 bytes) and lets `fill` write each plane before anybody else sees it.
  public convenience init(
    width: Int, height: Int, format: PixelFormat = .i420,
    fill: (_ planes: [MutablePlane]) throws -> Void
  ) rethrows {
    let chromaWidth = (width + 1) / 2
    let chromaHeight = (height + 1) / 2
    let yStride = (width + 31) & ~31
    let cStride = ((format == .i420 ? chromaWidth : chromaWidth * 2) + 31) & ~31
    let ySize = yStride * height
    let cSize = cStride * chromaHeight
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: ySize + cSize * (format.planeCount - 1), alignment: 64)
    let address = UInt(bitPattern: memory)
    let free: @Sendable () -> Void = {
      unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
    var planes = unsafe [
      MutablePlane(base: memory, stride: yStride, width: width, height: height),
      MutablePlane(
        base: memory + ySize, stride: cStride,
        width: format == .i420 ? chromaWidth : chromaWidth * 2,
        height: chromaHeight),
    ]
    if format == .i420 {
      unsafe planes.append(
        MutablePlane(
          base: memory + ySize + cSize, stride: cStride, width: chromaWidth, height: chromaHeight))
    }
    do {
      try fill(planes)
    } catch {
      free()
      throw error
    }
    switch format {
    case .i420:
      unsafe self.init(
        width: width, height: height, y: memory, yStride: yStride, u: memory + ySize,
        uStride: cStride,
        v: memory + ySize + cSize, vStride: cStride, release: free)
    case .nv12:
      unsafe self.init(
        width: width, height: height, y: memory, yStride: yStride, uv: memory + ySize,
        uvStride: cStride,
        release: free)
    }
  }

  deinit { release() }

  /// Chroma width in samples: half of `width`, rounded up.
  public var chromaWidth: Int { (width + 1) / 2 }
  /// Chroma height in rows: half of `height`, rounded up.
  public var chromaHeight: Int { (height + 1) / 2 }

  /// Plane `index` (0 is Y, 1 is U or interleaved UV, 2 is V). Valid while the buffer is alive.
  public func plane(_ index: Int) -> Plane {
    precondition(index >= 0 && index < format.planeCount)
    switch index {
    case 0: return unsafe Plane(base: bases.0, stride: strides.0, width: width, height: height)
    case 1:
      return unsafe Plane(
        base: bases.1, stride: strides.1, width: format == .i420 ? chromaWidth : chromaWidth * 2,
        height: chromaHeight)
    default:
      return unsafe Plane(
        base: bases.2, stride: strides.2, width: chromaWidth, height: chromaHeight)
    }
  }
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
