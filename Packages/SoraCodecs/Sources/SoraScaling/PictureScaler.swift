import CYUV
public import SoraCodecs
public import SoraMedia

/// Scales, crops and converts pictures with libyuv, into memory that it uses again.
///
/// Reducing averages over all samples that fall into one (a box where a picture shrinks to less than half, bilinear
/// between); enlarging is bilinear. Strides are honoured, odd sizes keep their last column and row. In steady state
/// nothing is allocated here, so use one scaler for each size that is wanted: another size empties its pool.
/// Confined to its owner; the pictures go anywhere and may outlive it.
@safe public final class PictureScaler {
  private let pool: PixelBufferPool
  private let depthConverter = BitDepthConverter(limit: 1)
  /// Chroma between scaling and its conversion from or to NV12.
  private var scratch: UnsafeMutableRawPointer?
  private var scratchBytes = 0

  /// - Parameter limit: how many pictures are kept for another use; more may be out at a time.
  public init(limit: Int = 8) { pool = PixelBufferPool(limit: limit) }

  deinit { unsafe scratch?.deallocate() }

  /// The largest width and height of a result, in pixels.
  public static let maximumSide = 16_383

  /// `source` in another size and format; `source` itself where it has them already.
  ///
  /// - Parameters:
  ///   - source: the picture; it is only read.
  ///   - crop: the part of the source that is wanted; nil for all of it.
  ///   - width: wanted, in pixels.
  ///   - height: wanted, in pixels.
  ///   - format: nil for the source's. Where it has another depth, what is cropped and scaled has it already.
  /// - Throws: `CodecError.invalidSetting` for a size below 1 or above `maximumSide`, and for a crop that isn't
  ///   inside of the source.
  public func scale(
    _ source: PixelBuffer, crop: PixelRectangle? = nil, width: Int, height: Int,
    format: PixelFormat? = nil
  ) throws(CodecError) -> PixelBuffer {
    let sides = 1...Self.maximumSide
    guard sides.contains(width), sides.contains(height) else {
      throw .invalidSetting(
        name: "size", value: "\(width)x\(height)",
        allowed: "1x1 to \(Self.maximumSide)x\(Self.maximumSide)")
    }
    let format = format ?? source.format
    let source = depthConverter.convert(source, to: format.bitDepth)
    let part = try SourcePart(source, crop ?? PixelRectangle(of: source))
    if part.isWhole, source.width == width, source.height == height, source.format == format {
      return source
    }
    let target = pool.take(width: width, height: height, format: format)
    guard format != .i010 else {
      part.y.scaleDeep(into: target.plane(0))
      part.u.scaleDeep(into: target.plane(1))
      part.v.scaleDeep(into: target.plane(2))
      return target.buffer
    }
    part.y.scale(into: target.plane(0))
    switch (source.format, format) {
    case (.nv12, .nv12):
      part.u.scaleInterleaved(into: target.plane(1))
    case (.nv12, _):
      split(part.u, u: target.plane(1), v: target.plane(2))
    case (_, .nv12):
      merge(part.u, part.v, into: target.plane(1))
    default:
      part.u.scale(into: target.plane(1))
      part.v.scale(into: target.plane(2))
    }
    return target.buffer
  }

  private func split(_ source: Samples, u: MutablePlane, v: MutablePlane) {
    var source = source
    if source.width != u.width || source.height != u.height {
      let scaled = unsafe MutablePlane(
        base: scratch(u.width * 2 * u.height), stride: u.width * 2, width: u.width * 2,
        height: u.height)
      source.scaleInterleaved(into: scaled)
      source = Samples(scaled, width: u.width)
    }
    unsafe SplitUVPlane(
      source.bytes, Int32(source.stride), u.bytes, Int32(u.stride), v.bytes, Int32(v.stride),
      Int32(u.width), Int32(u.height))
  }

  private func merge(_ u: Samples, _ v: Samples, into target: MutablePlane) {
    let (width, height) = (target.width / 2, target.height)
    var (u, v) = (u, v)
    if u.width != width || u.height != height {
      let memory = unsafe scratch(width * height * 2)
      let scaledU = unsafe MutablePlane(base: memory, stride: width, width: width, height: height)
      let scaledV = unsafe MutablePlane(
        base: memory + width * height, stride: width, width: width, height: height)
      u.scale(into: scaledU)
      v.scale(into: scaledV)
      u = Samples(scaledU, width: width)
      v = Samples(scaledV, width: width)
    }
    unsafe MergeUVPlane(
      u.bytes, Int32(u.stride), v.bytes, Int32(v.stride), target.bytes, Int32(target.stride),
      Int32(width), Int32(height))
  }

  private func scratch(_ byteCount: Int) -> UnsafeMutableRawPointer {
    if let scratch = unsafe scratch, scratchBytes >= byteCount { return unsafe scratch }
    unsafe scratch?.deallocate()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    unsafe scratch = unsafe memory
    scratchBytes = byteCount
    return unsafe memory
  }
}
