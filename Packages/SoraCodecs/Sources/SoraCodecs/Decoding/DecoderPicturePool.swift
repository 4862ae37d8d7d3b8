package import SoraMedia
import Synchronization

/// Memory that a library decodes pictures into and that is handed out without a copy.
///
/// A piece is free when neither the library nor anybody outside refers to it. The library says when it is done; for the
/// others the pool looks whether its own reference to the `PixelBuffer` is the only one, as `PixelBufferPool` does. So a
/// steady stream allocates nothing. The library may give back from any of its threads.
package final class DecoderPicturePool: Sendable {
  /// Zeroed at first, because a damaged stream may show what was never written.
  @safe private final class Memory: @unchecked Sendable {
    // @unchecked: both are constants; who writes through `base` is ruled by the pool.
    let base: UnsafeMutableRawPointer
    let count: Int

    init(_ count: Int) {
      self.count = count
      unsafe base = .allocate(byteCount: count, alignment: 64)
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }

    deinit { unsafe base.deallocate() }
  }

  private struct Slot {
    var memory: Memory?
    var isInLibrary = false
    var picture: PixelBuffer?

    mutating func isFree() -> Bool {
      !isInLibrary && (picture == nil || isKnownUniquelyReferenced(&picture))
    }
  }

  /// Free slots beyond these give their memory back.
  private static let kept = 24

  private let slots = Mutex<[Slot]>([])
  private let maximumBytes: Int

  /// For pictures of up to `settings.maximumPixels`, with 10 bits a sample and room for borders and alignment.
  package convenience init(_ settings: VideoDecoderSettings) {
    self.init(maximumBytes: max(0, min(settings.maximumPixels, 1 << 28)) * 4 + (16 << 20))
  }

  /// Pieces larger than `maximumBytes` are refused.
  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Lends `byteCount` bytes or more, aligned to 64, to the library; nil when that is too much.
  package func take(_ byteCount: Int) -> (slot: Int, base: UnsafeMutableRawPointer, count: Int)? {
    guard byteCount > 0, byteCount <= maximumBytes else { return nil }
    return unsafe slots.withLock { slots in
      var found: Int?
      var replaceable: Int?
      for index in slots.indices where slots[index].isFree() {
        let size = slots[index].memory?.count ?? 0
        if size >= byteCount, size / 4 <= byteCount, found == nil {
          found = index
          if index < Self.kept { break }
        } else if index >= Self.kept {
          slots[index].memory = nil
          slots[index].picture = nil
          if replaceable == nil { replaceable = index }
        } else if replaceable == nil {
          replaceable = index
        }
      }
      let index = found ?? replaceable ?? slots.count
      if index == slots.count { slots.append(Slot()) }
      if found == nil {
        slots[index].picture = nil
        slots[index].memory = Memory(byteCount)
      }
      guard let memory = slots[index].memory else { return nil }
      slots[index].isInLibrary = true
      return unsafe (index, memory.base, memory.count)
    }
  }

  /// The library doesn't refer to the piece any more.
  package func giveBack(_ slot: Int) {
    slots.withLock { slots in
      if slots.indices.contains(slot) { slots[slot].isInLibrary = false }
    }
  }

  /// The picture whose three planes lie in the piece; nil where they don't.
  package func picture(
    _ slot: Int, width: Int, height: Int, format: PixelFormat = .i420, y: UnsafeRawPointer,
    u: UnsafeRawPointer, v: UnsafeRawPointer, yStride: Int, uvStride: Int
  ) -> PixelBuffer? {
    slots.withLock { slots in
      guard slots.indices.contains(slot), let memory = slots[slot].memory, width > 0, height > 0
      else { return nil }
      let start = unsafe UnsafeRawPointer(memory.base)
      let end = unsafe start + memory.count
      let row = width * format.bytesPerSample
      let chromaRow = (width + 1) / 2 * format.bytesPerSample
      let chromaHeight = (height + 1) / 2
      guard yStride >= row, uvStride >= chromaRow, unsafe y >= start, unsafe u >= start,
        unsafe v >= start,
        unsafe y + yStride * (height - 1) + row <= end,
        unsafe u + uvStride * (chromaHeight - 1) + chromaRow <= end,
        unsafe v + uvStride * (chromaHeight - 1) + chromaRow <= end
      else { return nil }
      if let made = slots[slot].picture, made.width == width, made.height == height,
        made.format == format, unsafe made.plane(0).base == y, made.plane(0).stride == yStride,
        unsafe made.plane(1).base == u,
        made.plane(1).stride == uvStride, unsafe made.plane(2).base == v
      {
        return made
      }
      let made = unsafe PixelBuffer(
        width: width, height: height, format: format, y: y, yStride: yStride, u: u,
        uStride: uvStride, v: v,
        vStride: uvStride
      ) { withExtendedLifetime(memory) {} }
      slots[slot].picture = made
      return made
    }
  }
}
