import CYUV
package import SoraMedia

/// Where a picture's samples are in the driver's memory, and how they become a `PixelBuffer`.
package struct PictureLayout: Sendable, CustomStringConvertible {
  private typealias Conversion =
    @convention(c) (
      UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
      UnsafeMutablePointer<UInt8>?,
      Int32, UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
    ) -> Int32

  package let pixelFormat: CameraPixelFormat
  package let width: Int
  package let height: Int
  /// Bytes from row to row in each plane of memory; 0 where rows don't mean anything.
  private let strides: [Int]
  /// nil for formats that aren't known, such as those of video codecs.
  private let arrangement: PixelArrangement?
  /// Where the samples are; nil where the driver's planes aren't the format's.
  private let places: [Place]?
  /// Whether pictures are read from where the driver wrote them.
  let isLent: Bool
  /// Whether black is 16 in RGB, which is converted as if it were 0.
  private let isLimited: Bool
  /// How a picture's samples become colours; nil where that isn't known.
  package let colorSpace: VideoColorSpace?

  /// - Parameters:
  ///   - strides: bytes from row to row in each plane of memory.
  ///   - colorSpace: what the driver says of its samples. Of those that aren't luma and chroma, and of JPEG, it doesn't count: what is made
  ///     of them is limited BT.601.
  ///   - isLimited: of RGB: whether it goes from 16 to 235, as players send it through HDMI, and not from 0 to the most. Greys and sensors
  ///     always do the latter.
  ///   - hueSteps: of HSV: the steps of hue that make a circle, 180 or 256.
  package init(
    pixelFormat: CameraPixelFormat, width: Int, height: Int, strides: [Int],
    colorSpace: VideoColorSpace? = nil, isLimited: Bool = false, hueSteps: Int = 180
  ) {
    self.colorSpace =
      pixelFormat.isYCbCr ? colorSpace : pixelFormat.isVideoCodec ? nil : .bt601
    self.pixelFormat = pixelFormat
    self.width = width
    self.height = height
    self.strides = strides
    isLent = pixelFormat.isLent
    arrangement =
      if case .hsv(let pixels) = pixelFormat.arrangement {
        .hsv(pixels.with(hueSteps: hueSteps))
      } else { pixelFormat.arrangement }
    self.isLimited = isLimited && pixelFormat.isRGB
    places = arrangement.flatMap { Self.places(of: $0, width, height, strides) }
  }

  package var description: String { "\(pixelFormat) \(width)x\(height)" }

  /// Whether there can be a picture at all: samples have a place, and rows don't overlap.
  var isReadable: Bool {
    pixelFormat.isVideoCodec || places?.allSatisfy { $0.stride >= $0.row } ?? false
  }

  // MARK: Planes

  /// Samples somewhere in a plane of memory.
  private struct Place: Sendable {
    var plane: Int
    var offset: Int
    var stride: Int
    /// Bytes of a row that are samples.
    var row: Int
    var rows: Int

    /// The bytes behind the last sample.
    var end: Int { offset + stride * (rows - 1) + row }
  }

  private static func places(
    of arrangement: PixelArrangement, _ width: Int, _ height: Int, _ strides: [Int]
  ) -> [Place]? {
    // Larger than any camera's picture, and far from what a sum of bytes could hold.
    let (side, row) = (1 << 16, 1 << 24)
    guard (1...side).contains(width), (1...side).contains(height),
      strides.allSatisfy((0...row).contains),
      let stride = strides.first
    else { return nil }
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    /// Luma and so many planes of chroma: one behind the other in memory, or each in its own.
    func places(chroma count: Int, row: Int, rows: Int, stride: Int) -> [Place] {
      let luma = Place(plane: 0, offset: 0, stride: strides[0], row: width, rows: height)
      return [luma]
        + (0..<count).map { index in
          strides.count == 1
            ? Place(
              plane: 0, offset: luma.stride * height + index * stride * rows, stride: stride,
              row: row, rows: rows)
            : Place(plane: index + 1, offset: 0, stride: strides[index + 1], row: row, rows: rows)
        }
    }
    /// One plane, of rows of so many bytes.
    func packed(_ row: Int) -> [Place] {
      [Place(plane: 0, offset: 0, stride: stride, row: row, rows: height)]
    }
    switch arrangement {
    case .i420, .yv12:
      guard strides.count == 1 || strides.count == 3 else { return nil }
      return places(chroma: 2, row: chromaWidth, rows: chromaHeight, stride: stride / 2)
    case .nv12, .nv21:
      guard strides.count == 1 || strides.count == 2 else { return nil }
      return places(chroma: 1, row: chromaWidth * 2, rows: chromaHeight, stride: stride)
    case .i422:
      guard strides.count == 1 || strides.count == 3 else { return nil }
      return places(chroma: 2, row: chromaWidth, rows: height, stride: stride / 2)
    case .i444:
      guard strides.count == 1 || strides.count == 3 else { return nil }
      return places(chroma: 2, row: width, rows: height, stride: stride)
    case .nv16:
      guard strides.count == 1 || strides.count == 2 else { return nil }
      return places(chroma: 1, row: chromaWidth * 2, rows: height, stride: stride)
    case .nv24:
      guard strides.count == 1 || strides.count == 2 else { return nil }
      return places(chroma: 1, row: width * 2, rows: height, stride: stride * 2)
    case .packed(let pixels): return packed(pixels.row(width))
    case .vuya: return packed(width * 4)
    case .fields(let fields): return packed(width * fields.bytes)
    case .hsv(let pixels): return packed(width * pixels.bytes)
    case .gray(let depth): return packed(width * depth.bytes)
    case .bayer(let pixels): return packed(width * pixels.depth.bytes)
    case .jpeg: return []
    }
  }

  /// The memory of samples; nil where the driver filled less than the format needs, or rows overlap.
  private func start(
    _ place: Place, in memory: FilledMemory
  ) -> UnsafePointer<UInt8>? {
    guard place.plane < memory.count, place.stride >= place.row else { return nil }
    let plane = unsafe memory.plane(place.plane)
    guard place.end <= plane.count, let base = plane.baseAddress else { return nil }
    return unsafe (base + place.offset).assumingMemoryBound(to: UInt8.self)
  }

  /// The memory of all samples, of three places at most; nil where one of them hasn't enough.
  private func starts(
    of places: [Place], in memory: FilledMemory
  ) -> InlineArray<3, UnsafePointer<UInt8>>? {
    guard places.count > 0, let first = unsafe start(places[0], in: memory) else { return nil }
    var starts = unsafe InlineArray<3, _>(repeating: first)
    for index in 1..<places.count {
      guard let next = unsafe start(places[index], in: memory) else { return nil }
      unsafe starts[index] = unsafe next
    }
    return unsafe starts
  }

  /// The same as a span.
  @_lifetime(borrow memory)
  private func raster(_ place: Place, in memory: FilledMemory) -> Raster {
    let bytes = memory.bytes(of: place.plane).extracting(place.offset..<place.end)
    return Raster(bytes, stride: place.stride, width: width, height: height)
  }

  // MARK: Pictures

  /// Of what isn't lent.
  private var convertedFormat: PixelFormat {
    switch arrangement {
    case .nv16, .nv24, .vuya: .nv12
    default: .i420
    }
  }

  /// libyuv's function. Of RGB from 0 to 255 it makes limited BT.601.
  private static func conversion(of pixels: PackedPixels) -> Conversion {
    switch pixels {
    case .yuy2: return unsafe YUY2ToI420
    case .uyvy: return unsafe UYVYToI420
    case .rgb565: return unsafe RGB565ToI420
    case .argb1555: return unsafe ARGB1555ToI420
    case .argb4444: return unsafe ARGB4444ToI420
    case .rgb24: return unsafe RGB24ToI420
    case .raw: return unsafe RAWToI420
    case .argb: return unsafe ARGBToI420
    case .bgra: return unsafe BGRAToI420
    case .abgr: return unsafe ABGRToI420
    case .rgba: return unsafe RGBAToI420
    }
  }

  /// A picture that reads the driver's memory; nil where that holds no whole picture, or this format must be converted.
  func lend(
    _ memory: FilledMemory, release: @escaping @Sendable () -> Void
  ) -> PixelBuffer? {
    guard let arrangement, let places, let starts = unsafe starts(of: places, in: memory) else {
      return nil
    }
    switch arrangement {
    case .i420, .yv12:
      let (u, v) = if case .yv12 = arrangement { (2, 1) } else { (1, 2) }
      return unsafe PixelBuffer(
        width: width, height: height, y: starts[0], yStride: places[0].stride, u: starts[u],
        uStride: places[u].stride, v: starts[v], vStride: places[v].stride, release: release)
    case .nv12:
      return unsafe PixelBuffer(
        width: width, height: height, y: starts[0], yStride: places[0].stride, uv: starts[1],
        uvStride: places[1].stride, release: release)
    default: return nil
    }
  }

  /// The picture in memory of the pool's; nil where the driver's holds no whole picture, or a JPEG that can't be read.
  func copy(_ memory: FilledMemory, into pool: PixelBufferPool) -> PixelBuffer? {
    guard let arrangement, let places else { return nil }
    if isLent {
      guard let lent = lend(memory, release: {}) else { return nil }
      let target = pool.take(width: width, height: height, format: lent.format)
      for index in 0..<lent.format.planeCount { target.plane(index).copy(from: lent.plane(index)) }
      return target.buffer
    }
    let target = pool.take(width: width, height: height, format: convertedFormat)
    let isWhole =
      if case .jpeg = arrangement {
        decodeJPEG(memory, into: target)
      } else {
        convert(memory, arrangement, places, into: target)
      }
    guard isWhole else { return nil }
    if isLimited {
      for index in 0..<convertedFormat.planeCount {
        target.plane(index).widen(from: index == 0 ? 16 : 128, to: index == 0 ? 0 : 128)
      }
    }
    return target.buffer
  }

  /// Says whether the driver's memory held a whole picture.
  private func convert(
    _ memory: FilledMemory, _ arrangement: PixelArrangement, _ places: [Place],
    into target: PixelBufferPool.Writable
  ) -> Bool {
    guard let starts = unsafe starts(of: places, in: memory) else { return false }
    let (y, u) = (Target(target.plane(0)), Target(target.plane(1)))
    let v = convertedFormat == .nv12 ? u : Target(target.plane(2))
    let (w, h) = (Int32(width), Int32(height))
    let strides = InlineArray<3, Int32> { index in
      index < places.count ? Int32(clamping: places[index].stride) : 0
    }
    var status: Int32 = 0
    switch arrangement {
    case .i420, .yv12, .nv12, .jpeg: return false
    case .packed(let pixels):
      let (u, v) = pixels.swapsChroma ? (v, u) : (u, v)
      let convert = unsafe Self.conversion(of: pixels)
      status = unsafe convert(
        starts[0], strides[0], y.start, y.stride, u.start, u.stride, v.start, v.stride, w, h)
    case .nv21:
      status = unsafe NV21ToI420(
        starts[0], strides[0], starts[1], strides[1], y.start, y.stride, u.start, u.stride, v.start,
        v.stride, w, h)
    case .i422(let swapsChroma), .i444(let swapsChroma):
      unsafe CopyPlane(starts[0], strides[0], y.start, y.stride, w, h)
      let isFull = if case .i444 = arrangement { true } else { false }
      let chroma = ChromaReduction(isFull: isFull)
      for index in 1...2 {
        chroma.reduce(
          raster(places[swapsChroma ? 3 - index : index], in: memory), into: target.plane(index))
      }
    case .nv16(let swapsChroma), .nv24(let swapsChroma):
      unsafe CopyPlane(starts[0], strides[0], y.start, y.stride, w, h)
      let isFull = if case .nv24 = arrangement { true } else { false }
      ChromaReduction(isFull: isFull).reducePairs(
        raster(places[1], in: memory), into: target.plane(1), swaps: swapsChroma)
    case .vuya:
      // libyuv's AYUV is named from the highest byte of a word.
      status = unsafe AYUVToNV12(
        starts[0], strides[0], y.start, y.stride, u.start, u.stride, w, h)
    case .fields(let fields): fields.convert(raster(places[0], in: memory), into: target)
    case .hsv(let pixels): pixels.convert(raster(places[0], in: memory), into: target)
    case .bayer(let pixels): pixels.convert(raster(places[0], in: memory), into: target)
    case .gray(let depth): depth.convertGray(raster(places[0], in: memory), into: target)
    }
    return status == 0
  }

  /// Says whether it is a JPEG of this size that can be read.
  private func decodeJPEG(_ memory: FilledMemory, into target: PixelBufferPool.Writable) -> Bool {
    let bytes = unsafe memory.plane(0)
    guard let start = bytes.baseAddress else { return false }
    let sample = unsafe start.assumingMemoryBound(to: UInt8.self)
    let (w, h) = (Int32(width), Int32(height))
    var (jpegWidth, jpegHeight): (Int32, Int32) = (0, 0)
    guard unsafe MJPGSize(sample, bytes.count, &jpegWidth, &jpegHeight) == 0, jpegWidth == w,
      jpegHeight == h
    else { return false }
    let (y, u, v) = (Target(target.plane(0)), Target(target.plane(1)), Target(target.plane(2)))
    let status = unsafe MJPGToI420(
      sample, bytes.count, y.start, y.stride, u.start, u.stride, v.start, v.stride, w, h, w, h)
    guard status == 0 else { return false }
    for index in 0..<3 { target.plane(index).limit(to: index == 0 ? 219 : 224) }
    return true
  }
}

extension MutablePlane {
  /// Brings samples from 0 to 255, which JPEG's use (JFIF 1.02), to 16 and up (H.273 §8.3), which codecs and viewers of calls expect.
  /// Debian's libyuv has no function for it.
  ///
  /// - Parameter steps: from the darkest sample to the brightest: 219 for luma, 224 for chroma.
  fileprivate func limit(to steps: UInt16) {
    for y in 0..<height {
      let row = unsafe row(y)
      // The compiler makes vectors of this.
      for x in row.indices {
        let sample = unsafe UInt16(row[x])
        unsafe row[x] = UInt8(truncatingIfNeeded: (sample &* (steps &+ 1)) &>> 8 &+ 16)
      }
    }
  }

  /// Undoes for samples from 16 to 235 what conversion does to those from 0 to 255: what was there at `from` comes to `to`.
  fileprivate func widen(from: Int32, to: Int32) {
    for y in 0..<height {
      let row = unsafe row(y)
      for x in row.indices {
        // 255/219, in 1/65536.
        let wide = unsafe (Int32(row[x]) &- from) &* 76_309 &+ 32768
        unsafe row[x] = UInt8(truncatingIfNeeded: min(max(wide &>> 16 &+ to, 0), 255))
      }
    }
  }
}

/// Where libyuv writes a plane.
@safe private struct Target {
  let start: UnsafeMutablePointer<UInt8>
  let stride: Int32

  init(_ plane: MutablePlane) {
    unsafe start = unsafe plane.base.assumingMemoryBound(to: UInt8.self)
    stride = Int32(clamping: plane.stride)
  }
}
