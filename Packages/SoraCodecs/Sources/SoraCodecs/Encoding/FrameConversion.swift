import SoraMedia

/// Brings frames to the sample depth of a stream, and to colours that it can tell, into memory that is used again.
struct FrameConversion {
  /// Whether the stream can say what colours its samples are. If not, receivers take them for limited BT.601.
  let tellsColorSpace: Bool
  private let colors = ColorSpaceConverter(limit: 2)
  private let depth = BitDepthConverter(limit: 2)

  init(tellsColorSpace: Bool) { self.tellsColorSpace = tellsColorSpace }

  /// The frame's picture with `bitDepth` bits a sample.
  func picture(of frame: RawVideoFrame, bitDepth: Int) -> PixelBuffer {
    var picture = frame.buffer
    if picture.format.bitDepth != bitDepth { picture = depth.convert(picture, to: bitDepth) }
    guard !tellsColorSpace, frame.colorSpace != .bt601 else { return picture }
    return colors.convert(picture, from: frame.colorSpace, to: .bt601)
  }
}
