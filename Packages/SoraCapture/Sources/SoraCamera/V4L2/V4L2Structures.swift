import CSoraV4L2
import SoraMedia

extension FrameIntervals.Fraction {
  init(_ fraction: sora_v4l2_fraction) { self.init(fraction.numerator, fraction.denominator) }
}

extension FrameIntervals {
  init(_ intervals: sora_v4l2_intervals) {
    self.init(shortest: Fraction(intervals.least), longest: Fraction(intervals.most))
  }
}

extension FrameSizes {
  init(_ sizes: sora_v4l2_sizes) {
    self =
      sizes.is_discrete != 0
      ? .one(width: sizes.least_width, height: sizes.least_height)
      : .range(
        width: FrameSteps(
          least: sizes.least_width, most: sizes.most_width, step: sizes.step_width),
        height: FrameSteps(
          least: sizes.least_height, most: sizes.most_height, step: sizes.step_height))
  }
}

extension PictureLayout {
  init(_ picture: sora_v4l2_picture) {
    let planes = min(Int(picture.planes), Int(SORA_V4L2_PLANES))
    let strides = [picture.stride.0, picture.stride.1, picture.stride.2, picture.stride.3]
    self.init(
      pixelFormat: CameraPixelFormat(rawValue: picture.fourcc), width: Int(picture.width),
      height: Int(picture.height), strides: strides.prefix(planes).map { Int($0) },
      colorSpace: VideoColorSpace(
        v4l2Colorspace: picture.colorspace, encoding: picture.encoding,
        quantization: picture.quantization),
      // V4L2_QUANTIZATION_LIM_RANGE; left open, RGB has full range.
      isLimited: picture.quantization == 2,
      // V4L2_HSV_ENC_180, in the field that Y'CbCr's encoding has. Where vivid leaves it open, its hues have 256 steps.
      hueSteps: picture.encoding == 128 ? 180 : 256)
  }
}

extension FilledBuffer {
  init(_ filled: sora_v4l2_filled) {
    let offsets: InlineArray<4, UInt32> = [
      filled.offset.0, filled.offset.1, filled.offset.2, filled.offset.3,
    ]
    let used: InlineArray<4, UInt32> = [
      filled.used.0, filled.used.1, filled.used.2, filled.used.3,
    ]
    var parts = PlaneRanges()
    for plane in 0..<min(Int(filled.planes), PlaneRanges.most) {
      let end = Int(used[plane])
      parts.append(min(Int(offsets[plane]), end)..<end)
    }
    self.init(
      index: Int(filled.index), sequence: filled.sequence, nanoseconds: filled.time,
      isBroken: filled.broken != 0, parts: parts)
  }
}

extension ControlAnswer {
  init(_ control: sora_v4l2_control) {
    self.init(
      id: control.id, type: control.type, flags: control.flags, name: text(of: control.name),
      least: control.least, most: control.most, step: control.step, usual: control.usual)
  }
}

extension CaptureBuffer {
  convenience init(mapped memory: sora_v4l2_memory) {
    let starts = unsafe [memory.start.0, memory.start.1, memory.start.2, memory.start.3]
    let lengths = [memory.length.0, memory.length.1, memory.length.2, memory.length.3]
    let count = min(Int(memory.planes), Int(SORA_V4L2_PLANES))
    // The pointers are the kernel's mapping, which lives until `release`.
    nonisolated(unsafe) let mapped = memory
    unsafe self.init(
      planes: (0..<count).map {
        unsafe UnsafeRawBufferPointer(start: starts[$0], count: Int(lengths[$0]))
      },
      release: { unsafe withUnsafePointer(to: mapped) { unsafe sora_v4l2_unmap($0) } })
  }
}

/// The text in a C array of characters, up to its end or a zero.
func text<Characters>(of characters: Characters) -> String {
  unsafe withUnsafeBytes(of: characters) { bytes in
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
