/// Memory for the planes of one picture, one behind the other. Whoever makes it frees it, once.
@safe struct PictureMemory {
  let width: Int
  let height: Int
  let format: PixelFormat
  let base: UnsafeMutableRawPointer
  private let strides: (luma: Int, chroma: Int)

  /// - Parameter rowAlignment: what rows are padded to, in bytes; a power of two.
  init(width: Int, height: Int, format: PixelFormat, rowAlignment: Int) {
    func padded(_ row: Int) -> Int { (row + rowAlignment - 1) & ~(rowAlignment - 1) }
    self.width = width
    self.height = height
    self.format = format
    let chromaWidth = (width + 1) / 2
    let chromaRow = format == .nv12 ? chromaWidth * 2 : chromaWidth * format.bytesPerSample
    strides = (padded(width * format.bytesPerSample), padded(chromaRow))
    unsafe base = .allocate(
      byteCount: strides.luma * height
        + strides.chroma * ((height + 1) / 2) * (format.planeCount - 1),
      alignment: 64)
  }

  /// Frees the memory. From any thread.
  var free: @Sendable () -> Void {
    let address = unsafe UInt(bitPattern: base)
    return { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
  }

  /// Where to write the planes.
  var planes: [MutablePlane] {
    let chromaHeight = (height + 1) / 2
    let chromaWidth = (width + 1) / 2 * (format == .nv12 ? 2 : format.bytesPerSample)
    let luma = unsafe MutablePlane(
      base: base, stride: strides.luma, width: width * format.bytesPerSample, height: height)
    return [luma]
      + (0..<format.planeCount - 1).map { index in
        let offset = strides.luma * height + index * strides.chroma * chromaHeight
        return unsafe MutablePlane(
          base: base + offset, stride: strides.chroma, width: chromaWidth, height: chromaHeight)
      }
  }
}
