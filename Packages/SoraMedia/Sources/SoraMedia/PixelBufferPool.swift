/// Hands out picture memory and takes back that which nobody else references any more.
///
/// Confined to its owner (a decoder, a converter, a camera); the `PixelBuffer`s go anywhere and may outlive the pool.
/// Works like `EncodedBufferPool`: a picture is free again when the pool's reference is the only one, so that steady
/// state allocates nothing, not even the `PixelBuffer` object.
public final class PixelBufferPool {
  /// Where to write a picture. Only before the picture is handed on.
  @safe public struct Writable {
    public let buffer: PixelBuffer
    let memory: UnsafeMutableRawPointer

    /// Plane `index` of the picture, writable.
    public func plane(_ index: Int) -> MutablePlane {
      let plane = buffer.plane(index)
      return unsafe MutablePlane(
        base: memory + (plane.base - UnsafeRawPointer(memory)), stride: plane.stride,
        width: plane.width, height: plane.height)
    }
  }

  @safe private struct Slot {
    var buffer: PixelBuffer
    let memory: UnsafeMutableRawPointer
  }

  private var slots: [Slot] = []
  private var next = 0
  private let limit: Int

  /// Keeps up to `limit` pictures; when all of them are in use, further ones are made and not kept.
  public init(limit: Int = 16) {
    self.limit = max(1, limit)
  }

  /// Pictures that the pool keeps at the moment, in use or free.
  public var count: Int { slots.count }

  /// A picture to be written. Its rows are padded to 64 bytes; what it holds is undefined.
  public func take(width: Int, height: Int, format: PixelFormat = .i420) -> Writable {
    // A stream keeps its size for long: the slots of another size are dropped as soon as one is met.
    // (`first` goes through a generic accessor that allocates where it isn't specialized.)
    if !slots.isEmpty,
      slots[0].buffer.width != width || slots[0].buffer.height != height
        || slots[0].buffer.format != format
    {
      slots.removeAll(keepingCapacity: true)
      next = 0
    }
    for offset in 0..<slots.count {
      let index = (next + offset) % slots.count
      if isKnownUniquelyReferenced(&slots[index].buffer) {
        next = index + 1
        return unsafe Writable(buffer: slots[index].buffer, memory: slots[index].memory)
      }
    }
    let slot = Self.make(width: width, height: height, format: format)
    if slots.count < limit { slots.append(slot) }
    return unsafe Writable(buffer: slot.buffer, memory: slot.memory)
  }

  private static func make(width: Int, height: Int, format: PixelFormat) -> Slot {
    let memory = PictureMemory(width: width, height: height, format: format, rowAlignment: 64)
    return unsafe Slot(buffer: PixelBuffer(memory), memory: memory.base)
  }
}

extension MutablePlane {
  /// Copies the samples of `source`, which must have this plane's width and height.
  public func copy(from source: Plane) {
    precondition(source.width == width && source.height == height)
    if source.stride == stride {
      unsafe base.copyMemory(from: source.base, byteCount: stride * (height - 1) + width)
      return
    }
    for y in 0..<height {
      unsafe (base + y * stride).copyMemory(from: source.base + y * source.stride, byteCount: width)
    }
  }
}
