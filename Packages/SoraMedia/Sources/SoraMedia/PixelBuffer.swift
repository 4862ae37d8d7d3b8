/// A picture in memory: planes of samples that are never written again once the buffer is shared.
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

  /// References three planes, of `i420` or of `i010`, whose samples lie at even addresses. Strides are bytes from row to row. `release`
  /// runs once, on whichever thread drops the last reference.
  public init(
    width: Int, height: Int, format: PixelFormat = .i420,
    y: UnsafeRawPointer, yStride: Int,
    u: UnsafeRawPointer, uStride: Int,
    v: UnsafeRawPointer, vStride: Int,
    release: @escaping @Sendable () -> Void
  ) {
    precondition(width > 0 && height > 0 && format.planeCount == 3)
    self.width = width
    self.height = height
    self.format = format
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
    let memory = PictureMemory(width: width, height: height, format: format, rowAlignment: 32)
    do {
      try fill(memory.planes)
    } catch {
      memory.free()
      throw error
    }
    self.init(memory)
  }

  /// The picture that was written into `memory`, which goes with it.
  convenience init(_ memory: PictureMemory) {
    let (width, height, planes) = (memory.width, memory.height, memory.planes)
    switch memory.format {
    case .i420, .i010:
      unsafe self.init(
        width: width, height: height, format: memory.format, y: planes[0].base,
        yStride: planes[0].stride,
        u: planes[1].base, uStride: planes[1].stride, v: planes[2].base, vStride: planes[2].stride,
        release: memory.free)
    case .nv12:
      unsafe self.init(
        width: width, height: height, y: planes[0].base, yStride: planes[0].stride,
        uv: planes[1].base, uvStride: planes[1].stride, release: memory.free)
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
    let sample = format.bytesPerSample
    switch index {
    case 0:
      return unsafe Plane(
        base: bases.0, stride: strides.0, width: width * sample, height: height)
    case 1:
      return unsafe Plane(
        base: bases.1, stride: strides.1,
        width: chromaWidth * (format == .nv12 ? 2 : sample), height: chromaHeight)
    default:
      return unsafe Plane(
        base: bases.2, stride: strides.2, width: chromaWidth * sample, height: chromaHeight)
    }
  }
}

extension PixelBuffer {
  /// A black picture, `i420`.
  ///
  /// - Parameters:
  ///   - width: pixels, at least 1.
  ///   - height: pixels, at least 1.
  ///   - luma: of black: `VideoColorSpace.black`.
  public static func black(width: Int, height: Int, luma: UInt8 = 16) -> PixelBuffer {
    PixelBuffer(width: width, height: height) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          unsafe plane.row(y).initializeMemory(as: UInt8.self, repeating: index == 0 ? luma : 128)
        }
      }
    }
  }
}
